import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

import { PROBLEM_MEDIA_TYPE } from './problem.ts';
import type { Json, JsonObject } from './openapi/json.ts';

/** A response of the service as a client received it. */
export interface SeenAnswer {
  readonly method: string;
  /** Path below the public URL; a query is ignored. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** The body as text; empty without one. */
  readonly body: string;
}

/**
 * Compares responses with an OpenAPI document: status, headers, media type and body. For tests.
 *
 * @returns a function that lists deviations
 */
export function createConformance(document: unknown): (answer: SeenAnswer) => readonly string[] {
  const root = document as JsonObject;
  const ajv = new Ajv2020({ strict: false, allErrors: true, discriminator: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'urn:vantage:openapi', components: root['components'] });
  const compiled = new Map<string, ValidateFunction>();
  const faultsOf = (schema: Json, value: unknown, what: string): readonly string[] => {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"urn:vantage:openapi#/components/');
    const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text) as object);
    compiled.set(text, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map((error) => `${what}${error.instancePath} ${error.message}`);
  };

  return (answer) => {
    const operation = findOperation(root, answer);
    if (operation === undefined) return undocumented(answer, faultsOf);
    const documented = (operation['responses'] as JsonObject)[String(answer.status)] as JsonObject | undefined;
    if (documented === undefined && ofAnyRequest.has(answer.status)) return undocumented(answer, faultsOf);
    if (documented === undefined) return [`status ${answer.status} is not documented`];
    return [...headerFaults(root, documented, answer, faultsOf), ...bodyFaults(documented, answer, faultsOf)];
  };
}

/** Statuses that the description of the document states, because each operation may have them. */
const ofAnyRequest: ReadonlySet<number> = new Set([408, 431]);

type FaultsOf = (schema: Json, value: unknown, what: string) => readonly string[];

function findOperation(root: JsonObject, { method, path }: SeenAnswer): JsonObject | undefined {
  const [pathname = ''] = path.split('?', 1);
  const entry = Object.entries(root['paths'] as JsonObject).find(([template]) =>
    new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(pathname),
  );
  if (entry === undefined) return undefined;
  const known = method === 'HEAD' ? 'get' : method.toLowerCase();
  return (entry[1] as JsonObject)[known] as JsonObject | undefined;
}

/**
 * Faults of a response outside of any operation, which must be one to a preflight or a problem: 404 for a path, 405 for
 * a method, or one of the codes for malformed HTTP.
 */
function undocumented(answer: SeenAnswer, faultsOf: FaultsOf): readonly string[] {
  if (answer.method === 'OPTIONS' && answer.status === 204) return [];
  if (![400, 404, 405, 408, 431].includes(answer.status))
    return [`status ${answer.status} of an undocumented operation`];
  const content = { [PROBLEM_MEDIA_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } };
  const allow = answer.status === 405 && !answer.headers.has('Allow') ? ['405 without Allow'] : [];
  return [...allow, ...bodyFaults({ content }, answer, faultsOf)];
}

function headerFaults(
  root: JsonObject,
  documented: JsonObject,
  { headers }: SeenAnswer,
  faultsOf: FaultsOf,
): readonly string[] {
  const components = (root['components'] as JsonObject)['headers'] as JsonObject;
  return Object.entries((documented['headers'] as JsonObject | undefined) ?? {}).flatMap(([name, header]) => {
    const { $ref: reference } = header as { readonly $ref?: string };
    const resolved = reference === undefined ? header : components[reference.split('/').at(-1)!];
    const { required, schema = {} } = resolved as JsonObject;
    const value = headers.get(name);
    if (value === null) return required === true ? [`header ${name} is missing`] : [];
    const typed = (schema as JsonObject)['type'] === 'integer' ? Number(value) : value;
    return faultsOf(schema, typed, `header ${name}`);
  });
}

function bodyFaults(
  documented: JsonObject,
  { method, headers, body }: SeenAnswer,
  faultsOf: FaultsOf,
): readonly string[] {
  const content = Object.entries((documented['content'] as JsonObject | undefined) ?? {});
  if (content.length === 0) return body === '' ? [] : ['a body where none is documented'];
  const mediaType = (headers.get('Content-Type') ?? '').split(';', 1)[0];
  const found = content.find(([name]) => name === mediaType);
  if (found === undefined) return [`media type ${mediaType} is not documented`];
  if (method === 'HEAD') return body === '' ? [] : ['a body in answer to HEAD'];
  if (mediaType === 'text/event-stream') return eventFaults((found[1] as JsonObject)['x-events'], body, faultsOf);
  const value: unknown = mediaType?.endsWith('json') === true ? parse(body) : body;
  return faultsOf((found[1] as JsonObject)['schema'] ?? {}, value, 'body');
}

/** @param body an event stream as the service writes it: one field per line, LF only */
function eventFaults(documented: Json | undefined, body: string, faultsOf: FaultsOf): readonly string[] {
  const whole = body.split('\n\n').slice(0, -1);
  return whole.flatMap((text) => {
    const fields = new Map(text.split('\n').map((line): [string, string] => [line.split(': ', 1)[0]!, line]));
    const data = fields.get('data')?.slice('data: '.length);
    if (data === undefined) return /^(retry: \d+|:)$/.test(text) ? [] : [`not an event: ${text.slice(0, 100)}`];
    const name = fields.get('event')?.slice('event: '.length) ?? '';
    const schema = (documented as JsonObject | undefined)?.[name];
    if (schema === undefined) return [`event ${name} is not documented`];
    const id = /^id: \d+$/.test(fields.get('id') ?? '') ? [] : [`event ${name} has no version`];
    return [...id, ...faultsOf(schema, parse(data), `event ${name}`)];
  });
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
