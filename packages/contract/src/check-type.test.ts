import { describe, expect, it } from '@jest/globals';

import {
  defineCheckType,
  durationSchema,
  paramsSchema,
  partialResultSchema,
  pendingResultSchema,
  requestSchema,
  resultSchema,
  publicResultSchema,
} from './index.ts';
import { Type } from './type.ts';

const echo = defineCheckType({
  type: 'echo',
  title: 'Echo',
  summary: 'An echo.',
  hostKind: 'host',
  purpose: 'tcp',
  fields: { port: Type.Integer(), word: Type.String({ default: 'hello' }) },
  options: { count: Type.Integer({ default: 4 }), size: Type.Optional(Type.Integer()) },
  result: { heard: Type.String(), delay: durationSchema },
  requiredOnSuccess: ['heard'],
  needsRawSockets: false,
  traffic: () => ({ packets: 1, bytes: 1 }),
  budgetMs: () => 1_000,
});

interface Shape {
  readonly required?: readonly string[];
  readonly properties: Readonly<Record<string, Shape & { readonly description?: string }>>;
  readonly additionalProperties?: unknown;
  readonly then?: { readonly required: readonly string[] };
}

const shape = (schema: unknown): Shape => JSON.parse(JSON.stringify(schema)) as Shape;

describe('the schemas made from a check type', () => {
  it('ask a caller for the fields without a default alone, and refuse unknown ones', () => {
    const request = shape(requestSchema(echo, ['port', 'word', 'insecureSSL']));

    expect(request.required).toEqual(['type', 'host', 'port']);
    expect(request.properties['options']?.required ?? []).toEqual([]);
    expect([request.additionalProperties, request.properties['options']?.additionalProperties]).toEqual([false, false]);
  });

  it('accept fields of other types whatever they hold, as ignored', () => {
    const request = shape(requestSchema(echo, ['port', 'word', 'insecureSSL']));

    expect(request.properties['insecureSSL']).toEqual({ description: 'Ignored by echo.' });
  });

  it('give a job its defaults as required, and let a later release add fields', () => {
    const params = shape(paramsSchema(echo));

    expect(params.required).toEqual(['host', 'port', 'word', 'options']);
    expect(params.properties['options']?.required).toEqual(['count']);
    expect(params.additionalProperties).toBeUndefined();
  });

  it('ask a final result for the common fields, and a success for those of its type', () => {
    const result = shape(resultSchema(echo));

    expect(result.required).toEqual(['result', 'rt', 'resolvedIp', 'error', 'startedAt', 'finishedAt']);
    expect(result.then!.required).toEqual(['heard']);
    expect(result.additionalProperties).toBe(false);
  });

  it('let a caller read what the service adds, and no probe say it', () => {
    const withPicture = defineCheckType({ ...echo, added: { picture: Type.String() } });

    expect(Object.keys(shape(publicResultSchema(withPicture)).properties)).toContain('picture');
    expect(Object.keys(shape(pendingResultSchema(withPicture)).properties)).toContain('picture');
    expect(Object.keys(shape(resultSchema(withPicture)).properties)).not.toContain('picture');
    expect(Object.keys(shape(partialResultSchema(withPicture)).properties)).not.toContain('picture');
    expect(shape(publicResultSchema(echo))).toEqual(shape(resultSchema(echo)));
  });

  it('never let a partial result look final', () => {
    expect(Object.keys(shape(partialResultSchema(echo)).properties)).toEqual([
      'rt',
      'resolvedIp',
      'startedAt',
      'stalled',
      'heard',
      'delay',
    ]);
    expect(shape(pendingResultSchema(echo)).required).toEqual(['result']);
  });
});
