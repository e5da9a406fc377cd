export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** Converts a string or number to text; empty for any other value. */
export function scalarText(value: Json | undefined): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : '';
}

/** A reference to a schema of `#/components/schemas`. */
export function refTo(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Converts a schema of the contract. */
export function toJson(schema: unknown): JsonObject {
  // Removes the non-enumerable properties that TypeBox adds.
  return JSON.parse(JSON.stringify(schema)) as JsonObject;
}
