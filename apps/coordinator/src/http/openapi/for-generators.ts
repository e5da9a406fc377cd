import { scalarText, type Json, type JsonObject } from './json.ts';

/**
 * Moves `default` into the description, or leaves out one that is an object, a list or null: some client generators
 * treat a property with a default as always present and would require it in requests.
 */
export function withoutDefaults(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(withoutDefaults);
  const { default: fallback, ...rest } = schema as JsonObject;
  const parts: JsonObject = Object.fromEntries<Json>(
    Object.entries(rest).map(([key, value]) => [key, key === 'enum' ? value : withoutDefaults(value)]),
  );
  if (fallback === undefined || typeof fallback === 'object') return parts;
  return { ...parts, description: `${scalarText(parts['description'])} Default: ${JSON.stringify(fallback)}.`.trim() };
}

/**
 * Replaces a single `patternProperties` entry by `additionalProperties`: for the former, some generators write values
 * of an unknown type.
 */
export function withPlainMaps(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(withPlainMaps);
  const { patternProperties, ...rest } = schema as JsonObject;
  const parts = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, withPlainMaps(value)]));
  const [[pattern, value] = [], ...others] = Object.entries((patternProperties ?? {}) as JsonObject);
  if (pattern === undefined || value === undefined || others.length > 0) return parts;
  return { ...parts, propertyNames: { pattern }, additionalProperties: withPlainMaps(value) };
}

/** Adds an `enum` to each text with a `const`, which some generators ignore: they could not tell the types of a union. */
export function withEnums(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(withEnums);
  const parts = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, withEnums(value)]));
  return parts['type'] === 'string' && 'const' in parts ? { ...parts, enum: [parts['const']!] } : parts;
}
