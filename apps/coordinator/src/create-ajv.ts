import { Ajv2020, type AnySchema, type Options, type ValidateFunction } from 'ajv/dist/2020.js';

/**
 * Creates a strict validator: unknown schema keywords are errors. Schemas are not checked against the meta-schema at
 * runtime, because compiling the meta-schema would make the start longer; a test checks them. ajv does not optimise the
 * code: that would take two fifths of the compile time, during which the event loop is blocked, and V8 optimises it
 * anyway.
 */
export function createAjv(options: Options = {}): Ajv2020 {
  return new Ajv2020({ strict: true, validateSchema: false, code: { optimize: false }, ...options });
}

/** Compiles a schema at the first call, because not every program needs each, and once for all later callers. */
export function compiledAtFirstUse<T>(
  schema: AnySchema,
  open: () => Ajv2020 = () => createAjv(),
): () => ValidateFunction<T> {
  let compiled: ValidateFunction<T> | undefined;
  return () => (compiled ??= open().compile<T>(schema));
}
