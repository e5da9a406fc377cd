import { Ajv2020, type Options } from 'ajv/dist/2020.js';

/**
 * Creates a strict validator: unknown schema keywords are errors. Schemas are not checked against the meta-schema at
 * runtime, because compiling the meta-schema would make the start longer; a test checks them.
 */
export function createAjv(options: Options = {}): Ajv2020 {
  return new Ajv2020({ strict: true, validateSchema: false, ...options });
}
