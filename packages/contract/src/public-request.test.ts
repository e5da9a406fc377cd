import { describe, expect, it } from '@jest/globals';

import { defineCheckType, publicRequest, publicRequestSchema } from './index.ts';
import { Type } from './type.ts';

const echo = defineCheckType({
  type: 'echo',
  title: 'Echo',
  summary: 'An echo.',
  hostKind: 'host',
  purpose: 'tcp',
  fields: { port: Type.Integer(), word: Type.String({ default: 'hello' }) },
  options: {
    count: Type.Integer({ default: 4 }),
    size: Type.Optional(Type.Integer()),
    token: Type.Unsafe<Readonly<Record<string, string>>>({ type: 'object', default: {} }),
  },
  privateOptions: ['token'],
  result: { heard: Type.String() },
  requiredOnSuccess: ['heard'],
  needsRawSockets: false,
  traffic: () => ({ packets: 1, bytes: 1 }),
  budgetMs: () => 1_000,
});

const plain = { host: 'a.example', port: 80, word: 'hello', options: { count: 4, token: {} } };

describe('what everyone with its id can read of a request', () => {
  it.each([
    ['no defaults', plain, { port: 80 }],
    [
      'options that were changed',
      { ...plain, options: { count: 8, size: 9, token: {} } },
      { port: 80, options: { count: 8, size: 9 } },
    ],
    ['changed fields of the type', { ...plain, word: 'bye' }, { port: 80, word: 'bye' }],
    [
      'the name of a private option, never its value',
      { ...plain, options: { count: 4, token: { secret: 's3cr3t' } } },
      { port: 80, withheld: ['token'] },
    ],
    [
      'that a module had rules, never which',
      { ...plain, rules: { body: 's3cr3t' } },
      { port: 80, withheld: ['rules'] },
    ],
    ['nothing of other fields', { ...plain, other: 's3cr3t' }, { port: 80 }],
  ])('has %s', (_name, params, expected) => {
    expect(publicRequest(echo, params)).toEqual(expected);
  });

  it('has a schema without defaults and private options, that refuses others', () => {
    const schema = JSON.parse(JSON.stringify(publicRequestSchema(echo))) as {
      readonly required?: unknown;
      readonly additionalProperties: boolean;
      readonly properties: Readonly<Record<string, { readonly properties?: object; readonly default?: unknown }>>;
    };

    expect(schema.required).toBeUndefined();
    expect(schema.additionalProperties).toBe(false);
    expect(Object.keys(schema.properties)).toEqual(['port', 'word', 'options', 'withheld']);
    expect(Object.keys(schema.properties['options']!.properties!)).toEqual(['count', 'size']);
    expect(JSON.stringify(schema)).not.toContain('"default"');
  });
});
