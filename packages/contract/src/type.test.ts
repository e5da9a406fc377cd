import { describe, expect, it } from '@jest/globals';
import { Type as TypeBox } from 'typebox';

import { Type } from './type.ts';

type Builder = typeof Type;

/** Keywords of a schema in their order, and its properties that are not enumerable (`marks`), at all levels. */
function whole(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(whole);
  const names = Object.getOwnPropertyNames(value);
  const marks = names.filter((name) => !Object.prototype.propertyIsEnumerable.call(value, name));
  const content = (name: string): unknown => [name, whole((value as Readonly<Record<string, unknown>>)[name])];
  return { keywords: Object.keys(value).map(content), marks: marks.toSorted().map(content) };
}

const described = { description: 'Described.' };

describe('our functions build the schemas that typebox builds', () => {
  it.each<readonly [string, (type: Builder) => unknown]>([
    ['String', (type) => type.String({ minLength: 1, ...described })],
    ['Integer', (type) => type.Integer({ minimum: 0, default: 3 })],
    ['Number', (type) => type.Number()],
    ['Boolean', (type) => type.Boolean({ default: true })],
    ['Null', (type) => type.Null(described)],
    ['Unknown', (type) => type.Unknown(described)],
    ['Literal of a text', (type) => type.Literal('a', described)],
    ['Literal of a number', (type) => type.Literal(1)],
    ['Literal of a boolean', (type) => type.Literal(false)],
    ['Enum', (type) => type.Enum(['a', 'b'], described)],
    ['Array', (type) => type.Array(type.Integer(), { maxItems: 3, uniqueItems: true })],
    ['Union', (type) => type.Union([type.Null(), type.String()], described)],
    ['Record', (type) => type.Record(type.String(), type.Number())],
    ['Record with a pattern', (type) => type.Record(type.String({ pattern: '^a$' }), type.Number(), described)],
    ['Unsafe', (type) => type.Unsafe({ type: 'string', ...described })],
    ['Optional', (type) => type.Optional(type.String(described))],
    ['Optional of an unsafe one', (type) => type.Optional(type.Unsafe({ type: 'string' }))],
    ['Object', (type) => type.Object({ a: type.String(), b: type.Optional(type.Integer()) }, described)],
    ['Object without a required property', (type) => type.Object({ a: type.Optional(type.String()) })],
    ['Object without properties', (type) => type.Object({}, { additionalProperties: false })],
    ['Object of objects', (type) => type.Object({ a: type.Array(type.Object({ b: type.Null() })) })],
  ])('%s', (_name, build) => {
    expect(whole(build(Type))).toEqual(whole(build(TypeBox)));
  });

  it('and leave the schema of an optional one as it was', () => {
    const text = Type.String();

    Type.Optional(text);

    expect(Object.getOwnPropertyNames(text)).not.toContain('~optional');
  });
});
