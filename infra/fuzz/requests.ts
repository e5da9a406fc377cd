import type { Random } from './random.ts';
import { createSampler } from './sample.ts';
import { type Json, type Draft, spoil, wreck } from './damage.ts';

/** One request as bytes, and the kind that was intended. */
export interface FuzzRequest {
  readonly kind: 'valid' | 'nearly valid' | 'hostile';
  readonly method: string;
  /** The request target. */
  readonly path: string;
  readonly bytes: Buffer;
  /** True if the response may be an endless stream: only its head is awaited. */
  readonly isStream: boolean;
}

interface Operation {
  readonly method: string;
  readonly template: string;
  readonly operation: Json;
}

const hosts = [
  'example.com',
  'www.example.org',
  '192.0.2.1',
  '8.8.8.8',
  '2606:4700::1111',
  'localhost',
  'xn--bcher-kva.de',
];
const urls = [
  'https://example.com/',
  'http://www.example.org:8080/a?b=c',
  'https://8.8.8.8/',
  'http://[2606:4700::1111]/',
];

export interface RequestOptions {
  /** Ids of checks that the service has created lately; they change during the run. */
  readonly checkIds: readonly string[];
  /** A valid API key, for the operations that need one. */
  readonly key: string;
}

/** Generates requests for every operation of an OpenAPI document in turn. */
export function createRequests(document: Json, random: Random, { checkIds, key }: RequestOptions): () => FuzzRequest {
  const sample = createSampler(document, random);
  const operations = operationsOf(document);
  const sampleBody = bodySampler(operations, sample, random);
  let turn = 0;

  const parameterValue = (parameter: Json): string => {
    if (parameter['name'] === 'id' || parameter['name'] === 'other') {
      // A number is drawn even if there is no check yet: otherwise later requests would depend on the time of the first
      // check.
      const drawn = random.below(1_000);
      return checkIds[drawn % checkIds.length] ?? 'qPUXvL1sQx2rGJm0Zf7N4w';
    }
    // A longer wait would be valid, and would test nothing else.
    if (parameter['name'] === 'wait') return random.pick(['0', '0.05', '0.2']);
    if (parameter['name'] === 'Idempotency-Key') return `fuzz-${random.below(50_000)}`;
    return String(sample((parameter['schema'] as Json | undefined) ?? {}));
  };

  const valid = ({ method, template, operation }: Operation): Draft => {
    const parameters = ((operation['parameters'] as readonly Json[] | undefined) ?? []).filter(
      (parameter) => parameter['required'] === true || random.chance(0.5),
    );
    const of = (place: string): readonly (readonly [string, string])[] =>
      parameters
        .filter((parameter) => parameter['in'] === place)
        .map((parameter) => [String(parameter['name']), parameterValue(parameter)]);
    const path = of('path').reduce(
      (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)),
      template,
    );
    const query = new URLSearchParams(of('query').map(([name, value]): [string, string] => [name, value])).toString();
    const schema = bodySchema(operation);
    const body = schema === undefined ? undefined : JSON.stringify(sampleBody(schema));
    const type: readonly (readonly [string, string])[] =
      body === undefined ? [] : [['Content-Type', 'application/json']];
    const headers = of('header').filter(([, value]) => /^[\x20-\x7e]*$/.test(value));
    const authorization: readonly (readonly [string, string])[] = needsKey(operation)
      ? [['Authorization', `Bearer ${key}`]]
      : [];
    const all = [...type, ...authorization, ...headers];
    return { method, path: query === '' ? path : `${path}?${query}`, headers: all, body };
  };

  return () => {
    const operation = operations[turn % operations.length]!;
    turn += 1;
    const draft = valid(operation);
    const kind = random.pick(['valid', 'nearly valid', 'nearly valid', 'hostile'] as const);
    const changed = { valid: (same: Draft) => same, 'nearly valid': spoil, hostile: wreck }[kind](draft, random);
    const isStream = operation.template.endsWith('/events');
    return { kind, method: changed.method, path: changed.path, bytes: toBytes(changed, kind, random), isStream };
  };
}

function operationsOf(document: Json): readonly Operation[] {
  const all = Object.entries(document['paths'] as Json).flatMap(([template, item]) =>
    Object.entries(item as Json).map(([method, operation]): Operation => {
      return { method: method.toUpperCase(), template, operation: operation as Json };
    }),
  );
  // Operations with a body are chosen more often, because they validate the most.
  const withBody = all.filter(({ operation }) => operation['requestBody'] !== undefined);
  return [...all, ...withBody, ...withBody, ...withBody, ...withBody, ...withBody];
}

/** False also for an operation whose key is optional: it has an empty alternative. */
function needsKey({ security }: Json): boolean {
  const alternatives = (security as readonly Json[] | undefined) ?? [];
  return alternatives.length > 0 && alternatives.every((one) => Object.keys(one).length > 0);
}

function bodySchema(operation: Json): Json | undefined {
  const content = (operation['requestBody'] as Json | undefined)?.['content'] as Json | undefined;
  return (content?.['application/json'] as Json | undefined)?.['schema'] as Json | undefined;
}

/** @returns a function that makes the body of a request by its schema */
function bodySampler(
  operations: readonly Operation[],
  sample: ReturnType<typeof createSampler>,
  random: Random,
): (schema: Json) => unknown {
  const checkSchema = bodySchema(operations.find(({ template }) => template === '/check')!.operation)!;
  return (schema) => {
    const body = sample(schema) as Json;
    if (!('check' in body)) return withTarget(body, random);
    // The document has no schema for the check of a monitor. Webhooks are refused: the service has no secret to sign
    // them.
    const { webhooks: _webhooks, ...monitor } = body;
    return { ...monitor, check: withTarget(sample(checkSchema), random) };
  };
}

/** A schema cannot express which hosts and probes exist, nor that only one of two fields may be present. */
function withTarget(body: unknown, random: Random): unknown {
  const { probes, locations, ...fields } = body as Json;
  const chosen = probes === undefined ? { locations: ['de'] } : { probes: ['fra-1'] };
  const isChosen = probes !== undefined || locations !== undefined;
  return { ...fields, ...(isChosen ? chosen : undefined), host: random.pick(fields['type'] === 'http' ? urls : hosts) };
}

function toBytes({ method, path, headers, body }: Draft, kind: FuzzRequest['kind'], random: Random): Buffer {
  const version = kind === 'hostile' && random.chance(0.1) ? random.pick(['1.0', '0.9', '2.0', '1.2', 'x']) : '1.1';
  const end = kind === 'hostile' && random.chance(0.05) ? '\n' : '\r\n';
  const content = body === undefined ? undefined : Buffer.from(body);
  const length: readonly (readonly [string, string])[] =
    content === undefined ? [] : [['Content-Length', String(content.length)]];
  const lines = [
    `${method} ${path} HTTP/${version}`,
    ...[['Host', 'fuzz.example'] as const, ['Connection', 'close'] as const, ...headers, ...length].map(
      ([name, value]) => `${name}: ${value}`,
    ),
  ];
  return Buffer.concat([Buffer.from(`${lines.join(end)}${end}${end}`), content ?? Buffer.alloc(0)]);
}
