import { Ajv2020, type Options } from 'ajv/dist/2020.js';

/**
 * A strict validator: an unknown keyword of a schema is an error. The schemas themselves are not validated: it would add half
 * to the schemas that a coordinator compiles at its start, and a test does it.
 */
export function createAjv(options: Options = {}): Ajv2020 {
  return new Ajv2020({ strict: true, validateSchema: false, ...options });
}
