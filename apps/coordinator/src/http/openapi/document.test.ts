import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { requestSchema, resultSchema, type AnyCheckType } from '@vantage/contract';
import { checkTypes, knownRequestFields } from '@vantage/diagnostics/contract';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

import { post, startHttpBed, type HttpBed } from '../../../test/http-bed.ts';
import { createConformance } from '../conformance.ts';
import { exampleProbe } from './example-values.ts';
import type { JsonObject } from './json.ts';

let bed: HttpBed;
let document: JsonObject;

beforeAll(async () => {
  const probes = { 'fra-1': exampleProbe, 'nyc-1': { ...exampleProbe, offers: ['203.0.113.9'] } } as never;
  bed = await startHttpBed({
    publicUrl: 'https://vantage.example/net',
    probes: { list: async () => probes, agents: async () => ({}), metricsAddresses: async () => new Map() },
  });
  document = (await bed.ask('/openapi.json')).json as JsonObject;
});

afterAll(() => bed.close());

const types: readonly AnyCheckType[] = Object.values(checkTypes);

/** All objects in a JSON value, at any depth. */
function schemasIn(value: unknown): readonly JsonObject[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(schemasIn);
  return Array.isArray(value) ? inner : [value as JsonObject, ...inner];
}

interface PublishedSchemas {
  readonly ajv: Ajv2020;
  readonly validatorOf: (name: string) => ValidateFunction;
}

let compiled: PublishedSchemas | undefined;

/** Compiles each schema of the document once, without Ajv's optimizer, which would take long. */
function publishedSchemas(): PublishedSchemas {
  if (compiled !== undefined) return compiled;
  const ajv = new Ajv2020({ strict: false, code: { optimize: false } });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'https://a.invalid/', components: document['components'] });
  const validators = new Map<string, ValidateFunction>();
  const validatorOf = (name: string): ValidateFunction => {
    const known = validators.get(name) ?? ajv.compile({ $ref: `https://a.invalid/#/components/schemas/${name}` });
    validators.set(name, known);
    return known;
  };
  compiled = { ajv, validatorOf };
  return compiled;
}

describe('the OpenAPI document', () => {
  it('is valid against the OpenAPI 3.1 meta-schema', async () => {
    const validator = new Validator();

    const { valid, errors } = await validator.validate(structuredClone(document) as Record<string, unknown>);

    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(validator.version).toBe('3.1');
  });

  it('says where and what it is', () => {
    expect(document).toMatchObject({
      info: { title: 'Vantage', version: '1.2.3' },
      servers: [{ url: 'https://vantage.example/net' }],
      paths: { '/check': { post: { 'x-rate-limit': { requests: 1e6, windowSeconds: 60 } } } },
    });
  });

  it('resolves every reference, and names no schema and no header that nothing refers to', () => {
    const text = JSON.stringify(document);
    const targets = [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)].map(([, kind, name]) => [
      kind,
      name,
    ]);
    const components = document['components'] as Record<string, JsonObject>;

    for (const [kind, name] of targets) expect(Object.keys(components[kind!]!)).toContain(name);
    const referred = new Set(targets.map(([, name]) => name));
    const named = [...Object.keys(components['schemas']!), ...Object.keys(components['headers']!)];
    expect(named.filter((name) => !referred.has(name))).toEqual([]);
  });

  it('says of the check of a monitor what validates it', () => {
    const isMonitor = publishedSchemas().validatorOf('MonitorRequest');
    const check = { type: 'tcp', host: 'a.example', port: 443 };

    expect(isMonitor({ check, every: '60s' })).toBe(true);
    expect(isMonitor({ check: { ...check, port: '443' }, every: '60s' })).toBe(false);
    expect(isMonitor({ check: { ...check, options: { count: 1 } }, every: '60s' })).toBe(false);
  });

  it('gives a text that is fixed as an enum too: some generators do not know `const`', () => {
    const fixed = schemasIn(document['components']).filter(
      (schema) => schema['type'] === 'string' && 'const' in schema,
    );

    expect(fixed.map((schema) => schema['const'])).toEqual(expect.arrayContaining(['ping', 'pending', 'state']));
    for (const schema of fixed) expect(schema['enum']).toEqual([schema['const']]);
  });

  it('has the answers to a key that is not valid, or that a coordinator has not read yet', async () => {
    for (const found of [{ refused: 'unknown' }, 'unread'] as const) {
      const keys = { find: () => found, poll: async () => undefined };
      const keyBed = await startHttpBed({ publicUrl: 'https://vantage.example/net', keys });
      for (const [template, operations] of Object.entries(document['paths'] as Record<string, JsonObject>)) {
        for (const [method, operation] of Object.entries(operations)) {
          if (!('security' in (operation as JsonObject))) continue;
          const path = template.replace('{name}', 'web').replaceAll(/\{\w+\}/g, 'qPUXvL1sQx2rGJm0Zf7N4w');
          // Rejects if the document does not have the answer.
          const sent = { method: method.toUpperCase(), headers: { Authorization: 'Bearer vtg_x' } };
          const { status } = await keyBed.ask(path, sent);
          expect([template, status]).toEqual([template, found === 'unread' ? 503 : 401]);
        }
      }
      await keyBed.close();
    }
  });

  it('has the headers of limits in each answer of a limited operation that may have them', () => {
    type Answers = Record<string, { readonly headers: Record<string, { readonly $ref: string } | undefined> }>;
    const paths = document['paths'] as Record<string, Record<string, { readonly responses: Answers }>>;
    const { headers } = document['components'] as { headers: Record<string, JsonObject> };
    const { responses } = paths['/check']!['post']!;
    const isRequired = (status: string): unknown =>
      headers[responses[status]!.headers['RateLimit']?.$ref.split('/').at(-1) ?? '']?.['required'];

    expect(Object.keys(responses).filter((status) => isRequired(status) === undefined)).toEqual([]);
    expect(Object.keys(responses).filter((status) => isRequired(status) === false)).toEqual(['400', '500', '503']);
    expect(paths['/healthz']!['get']!.responses['500']!.headers).not.toHaveProperty('RateLimit');
  });

  it('has the header that tells how long an Idempotency-Key is in use', () => {
    const { responses } = (document['paths'] as Record<string, Record<string, JsonObject>>)['/check']!['post']!;
    const faultsOf = createConformance(document);
    const body = JSON.stringify({
      type: 'https://vantage.example/net/problems/idempotency-key-in-use',
      title: 'A',
      status: 409,
      detail: 'A.',
      instance: '/check',
      requestId: '00000000-0000-0000-0000-000000000000',
    });
    const headers = {
      'Content-Type': 'application/problem+json',
      'X-Request-Id': '00000000-0000-0000-0000-000000000000',
      RateLimit: '"create-check"; r=1; t=1',
      'RateLimit-Policy': '"create-check"; q=20; w=60',
    };
    const answer = { method: 'POST', path: '/check', status: 409, body };

    expect((responses as Record<string, JsonObject>)['409']!['headers']).toHaveProperty('Retry-After');
    expect(faultsOf({ ...answer, headers: new Headers(headers) })).toEqual([]);
    expect(faultsOf({ ...answer, headers: new Headers({ ...headers, 'Retry-After': '2' }) })).toEqual([]);
    expect(faultsOf({ ...answer, headers: new Headers({ ...headers, 'Retry-After': 'soon' }) })).not.toEqual([]);
  });

  it.each(types.map((checkType) => [checkType.type, checkType] as const))(
    'says of a %s request and result what validates them',
    (type, checkType) => {
      const { ajv, validatorOf: published } = publishedSchemas();
      const used = ajv.compile(requestSchema(checkType, knownRequestFields));
      const usedForResults = ajv.compile(resultSchema(checkType));
      const prefix = `${type[0]!.toUpperCase()}${type.slice(1)}`;
      const now = new Date().toISOString();
      const failed = {
        result: 'error',
        rt: null,
        resolvedIp: null,
        startedAt: null,
        finishedAt: now,
        error: { code: 'probe_offline', phase: 'dispatch', source: 'probe', message: 'Offline.' },
      };

      for (const body of [
        { type, host: 'example.com', port: 443 },
        { type, host: '' },
        { type, host: 'a', what: 1 },
      ]) {
        expect([body, published('CheckRequest')(body)]).toEqual([body, used(body)]);
        expect(published(`${prefix}Request`)(body)).toBe(used(body));
      }
      for (const result of [failed, { ...failed, result: 'success' }, { ...failed, error: { code: 'odd' } }, {}]) {
        expect(published(`${prefix}Result`)(result)).toBe(usedForResults(result));
      }
      expect(published(`${prefix}Entry`)({ result: 'pending' })).toBe(true);
    },
  );

  it('has the form of maps that every generator of clients reads', () => {
    const maps = schemasIn(document).filter((schema) => 'propertyNames' in schema);

    expect(schemasIn(document).filter((schema) => 'patternProperties' in schema)).toHaveLength(0);
    expect(maps.length).toBeGreaterThan(10);
    for (const map of maps) expect(map['additionalProperties']).toEqual(expect.any(Object));
  });

  it('has no two fields for which a generator writes types of one name', () => {
    const doubled = schemasIn(document).flatMap(({ properties = {} }) => {
      const own = Object.entries(properties as JsonObject).filter(([, field]) => !('$ref' in (field as JsonObject)));
      const names = own.map(([name]) => name.replaceAll('_', '').toLowerCase());
      return names.filter((name, index) => names.indexOf(name) !== index);
    });

    expect(doubled).toEqual([]);
  });

  it('has an example of each type that the service accepts', async () => {
    const { examples } = (document as never as Published).paths['/check'].post.requestBody.content['application/json'];

    expect(Object.keys(examples)).toEqual([...types.map(({ type }) => type), 'traceroute between']);
    for (const { value } of Object.values(examples)) expect((await bed.ask('/check', post(value))).status).toBe(202);
  });
});

describe('the answers of the OpenAPI document', () => {
  const answers = (): readonly [name: string, schema: object, examples: readonly unknown[]][] =>
    Object.values(document['paths'] as Record<string, Record<string, JsonObject>>).flatMap((methods) =>
      Object.values(methods).flatMap((operation) =>
        Object.entries(operation['responses'] as Record<string, JsonObject>).flatMap(([status, { content = {} }]) =>
          Object.entries(content as Record<string, JsonObject>)
            .filter(([type]) => !type.startsWith('image/'))
            .map(([, body]): [string, object, unknown[]] => [
              `${operation['operationId'] as string} ${status}`,
              body['schema'] as object,
              'example' in body
                ? [body['example']]
                : Object.values((body['examples'] ?? {}) as Record<string, { value: unknown }>).map(
                    ({ value }) => value,
                  ),
            ]),
        ),
      ),
    );

  it('have an example each, as their schemas say', () => {
    const { ajv } = publishedSchemas();
    const published = (schema: object) =>
      ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"https://a.invalid/#/')) as object);

    expect(answers().filter(([, , { length }]) => length === 0)).toEqual([]);
    expect(answers().length).toBeGreaterThan(60);
    for (const [name, schema, examples] of answers()) {
      const validate = published(schema);
      for (const example of examples) {
        const isValid = validate(example);
        expect([name, isValid, validate.errors]).toEqual([name, true, null]);
      }
    }
  });
});

interface Published {
  readonly paths: {
    readonly '/check': {
      readonly post: {
        readonly requestBody: {
          readonly content: { readonly 'application/json': { readonly examples: Record<string, { value: unknown }> } };
        };
      };
    };
  };
}

describe('the judge of answers', () => {
  const headers = new Headers({
    'Content-Type': 'application/json',
    'X-Request-Id': '00000000-0000-0000-0000-000000000000',
    RateLimit: '"list-probes"; r=1; t=1',
    'RateLimit-Policy': '"list-probes"; q=20; w=60',
    ETag: '"a"',
    'Cache-Control': 'no-cache',
  });
  const good = { method: 'GET', path: '/probes', status: 200, headers, body: '{}' };
  const without = (name: string): Headers => {
    const left = new Headers(headers);
    left.delete(name);
    return left;
  };

  const late = {
    headers: new Headers({ 'Content-Type': 'application/problem+json' }),
    body: JSON.stringify({
      type: 'https://vantage.example/net/problems/request-timeout',
      title: 'A',
      status: 408,
      detail: 'A.',
      instance: '',
      requestId: '00000000-0000-0000-0000-000000000000',
    }),
  };

  it.each([
    ['nothing in a good answer', good, []],
    ['a status that is not documented', { ...good, status: 201 }, ['status 201 is not documented']],
    ['nothing in a refusal that any request may get', { ...good, status: 408, ...late }, []],
    ['a refusal of another shape', { ...good, status: 431, headers: late.headers }, [expect.stringMatching(/^body /)]],
    ['a header that is missing', { ...good, headers: without('RateLimit') }, ['header RateLimit is missing']],
    ['a body of another shape', { ...good, body: '{"fra-1":{}}' }, [expect.stringMatching(/^body\/fra-1 must have/)]],
    ['a body that is no JSON', { ...good, body: 'no' }, [expect.stringMatching(/^body /)]],
    ['a body where there is none', { ...good, status: 304 }, ['a body where none is documented']],
    ['another media type', { ...good, headers: without('Content-Type') }, ['media type  is not documented']],
    ['an answer of an unknown path', { ...good, path: '/other' }, ['status 200 of an undocumented operation']],
  ])('finds %s', (_reason, answer, faults) => {
    const found = createConformance(document)(answer);

    expect(found.slice(0, Math.max(1, faults.length))).toEqual(faults);
  });
});
