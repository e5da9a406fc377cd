import { checkIdSchema } from '@vantage/contract';

import { jsonText, toJson } from '../openapi/schemas.ts';

const pattern = new RegExp(jsonText(toJson(checkIdSchema)['pattern']));

/** The store is not asked for what no check is called. */
export function isCheckId(id: string): boolean {
  return pattern.test(id);
}
