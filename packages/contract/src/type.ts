import type { Type as TypeBox } from 'typebox';

export type { Static, TObject, TProperties, TSchema } from 'typebox';

/**
 * The functions of typebox that build our schemas, with its types; the schemas equal its own (`type.test.ts`). typebox
 * itself has hundreds of modules, whose loading takes 11 MiB in each program.
 */
type Builder = Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
>;

type Schema = Readonly<Record<string, unknown>>;

/** Marks of typebox are not enumerable, so that JSON lacks them. */
function marked(schema: Schema, marks: Schema): Schema {
  const result = { ...schema };
  for (const [name, value] of Object.entries({ ...marksOf(schema), ...marks })) {
    Object.defineProperty(result, name, { value, enumerable: false, configurable: true, writable: true });
  }
  return result;
}

function marksOf(schema: Schema): Schema {
  const names = Object.getOwnPropertyNames(schema).filter((name) => name.startsWith('~'));
  return Object.fromEntries(names.map((name) => [name, schema[name]]));
}

const plain =
  (kind: string, keywords: Schema) =>
  (options: Schema = {}): Schema =>
    marked({ ...keywords, ...options }, { '~kind': kind });

function object(properties: Readonly<Record<string, Schema>>, options: Schema = {}): Schema {
  const required = Object.keys(properties).filter((name) => !Object.hasOwn(properties[name]!, '~optional'));
  const keywords = { type: 'object', ...(required.length === 0 ? {} : { required }), properties };
  return marked({ ...keywords, ...options }, { '~kind': 'Object' });
}

function record(key: { readonly pattern?: string }, value: Schema, options: Schema = {}): Schema {
  const patternProperties = { [key.pattern ?? '^.*$']: value };
  return marked({ type: 'object', patternProperties, ...options }, { '~kind': 'Record' });
}

const functions = {
  Array: (items: Schema, options: Schema = {}) => marked({ type: 'array', items, ...options }, { '~kind': 'Array' }),
  Boolean: plain('Boolean', { type: 'boolean' }),
  Enum: (values: readonly unknown[], options: Schema = {}) =>
    marked({ enum: [...values], ...options }, { '~kind': 'Enum' }),
  Integer: plain('Integer', { type: 'integer' }),
  Literal: (value: unknown, options: Schema = {}) =>
    marked({ type: typeof value, const: value, ...options }, { '~kind': 'Literal' }),
  Null: plain('Null', { type: 'null' }),
  Number: plain('Number', { type: 'number' }),
  Object: object,
  Optional: (schema: Schema) => marked(schema, { '~optional': true }),
  Record: record,
  String: plain('String', { type: 'string' }),
  Union: (anyOf: readonly Schema[], options: Schema = {}) => marked({ anyOf, ...options }, { '~kind': 'Union' }),
  Unknown: plain('Unknown', {}),
  Unsafe: (schema: Schema) => marked(schema, { '~unsafe': null }),
} satisfies Readonly<Record<keyof Builder, unknown>>;

export const Type = functions as unknown as Builder;
