import { HOSTILE_KEY, hostileString, hostileValue } from './hostile-values.ts';
import type { Random } from './random.ts';
import { createSampler } from './sample.ts';

type Json = Readonly<Record<string, unknown>>;

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

interface Draft {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | undefined;
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

/** Makes one change, after which the request is still valid, or almost valid. */
function spoil(draft: Draft, random: Random): Draft {
  if (draft.body === undefined) {
    const query = `${random.pick(['wait', 'x', '__proto__', 'wait[]'])}=${encodeURIComponent(wellFormed(hostileString(random)).slice(0, 500))}`;
    return random.pick([
      { ...draft, method: random.pick(['POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE']) },
      { ...draft, path: `${draft.path}${draft.path.includes('?') ? '&' : '?'}${query}` },
      { ...draft, path: `${draft.path}/` },
      withKey(draft, random),
      { ...draft, headers: [...draft.headers, ['If-None-Match', '*'] as const] },
      { ...draft, headers: [...draft.headers, ['Last-Event-ID', '999999999999999999999'] as const] },
    ]);
  }
  const body = JSON.parse(draft.body) as Record<string, unknown>;
  const names = Object.keys(body);
  const name = names.length === 0 ? 'type' : random.pick(names);
  const options = body['options'] as Json | undefined;
  const spoiled = random.pick<() => unknown>([
    () => Object.fromEntries(Object.entries(body).filter(([key]) => key !== name)),
    () => ({ ...body, [name]: hostileValue(random) }),
    () => ({ ...body, host: hostileString(random) }),
    () => ({ ...body, [hostileString(random).slice(0, 500)]: hostileValue(random) }),
    () => ({
      ...body,
      options: { ...options, [random.pick([...Object.keys(options ?? {}), 'x'])]: hostileValue(random) },
    }),
    () => ({ ...body, probes: ['unknown-1'] }),
    () => ({ ...body, probes: ['fra-1'], locations: ['de'] }),
    () => ({ ...body, limit: random.pick([0, 101, 1.5]) }),
    () => [body],
  ])();
  return { ...draft, body: JSON.stringify(spoiled) };
}

/** Adds an `Authorization` header with a key that is not valid. */
function withKey(draft: Draft, random: Random): Draft {
  const value = random.pick([
    `Bearer ${HOSTILE_KEY}`,
    'Bearer',
    `bearer  ${hostileString(random)
      .replaceAll(/[^ -~]/g, '')
      .slice(0, 300)}`,
    'Basic dXNlcjpwYXNz',
    `Bearer ${'x'.repeat(2_000)}`,
  ]);
  return { ...draft, headers: [...draft.headers, ['Authorization', value]] };
}

/** Makes one change that no proper client would make, in the body or in the HTTP request. */
function wreck(draft: Draft, random: Random): Draft {
  const text = draft.body ?? '';
  return random.pick<() => Draft>([
    () => ({ ...draft, body: text.slice(0, random.below(text.length + 1)) }),
    () => ({ ...draft, body: `${'['.repeat(7_000)}${']'.repeat(7_000)}` }),
    () => ({ ...draft, body: text.replace('{', '{"__proto__":{"limit":1},') }),
    () => ({ ...draft, body: ' '.repeat(16_385) }),
    () => ({ ...draft, body: Array.from({ length: 64 }, () => String.fromCharCode(random.below(256))).join('') }),
    () => ({
      ...draft,
      headers: [['Content-Type', random.pick(['text/plain', 'application/json; charset=utf-7', ';'])]],
    }),
    () => ({ ...draft, headers: [...draft.headers, ['Content-Encoding', random.pick(['gzip', 'br', 'x'])]] }),
    () => ({ ...draft, headers: [...draft.headers, ['X-Forwarded-For', hostileString(random).slice(0, 300)]] }),
    () => ({ ...draft, headers: [...draft.headers, ['Idempotency-Key', hostileString(random).slice(0, 300)]] }),
    () => ({
      ...draft,
      headers: [...draft.headers, ['Content-Length', random.pick(['0', '5', '-1', 'x', '99999999999'])]],
    }),
    () => ({
      ...draft,
      headers: [...draft.headers, ['Transfer-Encoding', random.pick(['chunked', 'gzip', 'chunked, x'])]],
    }),
    () => withKey(draft, random),
    () => ({ ...draft, headers: [...draft.headers, ['Cookie', 'x'.repeat(9_000)]] }),
    () => ({ ...draft, path: `/${encodeURIComponent(wellFormed(hostileString(random)))}` }),
    () => ({ ...draft, path: `/${hostileString(random)}` }),
    () => ({ ...draft, path: draft.path.replace(/[^/]+$/, '%ff%00..%2f') }),
    () => ({ ...draft, path: random.pick(['*', '//x', 'http://[', 'x', '/%', '/\\', `/${'a/'.repeat(3_000)}`]) }),
    () => ({ ...draft, method: random.pick(['BREW', 'CONNECT', 'get', 'PROPFIND', 'PRI']) }),
  ])();
}

function wellFormed(text: string): string {
  return text.toWellFormed();
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
