import {
  heartbeatSchema,
  monitorRequestSchema,
  partialResultSchema,
  probeRecordSchema,
  requestSchema,
  resultSchema,
  screenshotReportSchema,
} from '@vantage/contract';
import { checkTypes } from '@vantage/diagnostics/contract';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { apiKeySchema } from './keys/api-key.ts';

const types = Object.values(checkTypes);

describe('each schema that a coordinator compiles', () => {
  it.each<readonly [string, object]>([
    ['of a heartbeat', heartbeatSchema],
    ['of a monitor', monitorRequestSchema],
    ['of a probe', probeRecordSchema],
    ['of a screenshot', screenshotReportSchema],
    ['of an API key', apiKeySchema],
    ...types.flatMap((type): readonly (readonly [string, object])[] => [
      [`of ${type.type} requests`, requestSchema(type, ['port', 'record'])],
      [`of ${type.type} results`, resultSchema(type)],
      [`of partial ${type.type} results`, partialResultSchema(type)],
    ]),
  ])('is a JSON Schema: that %s', (_which, schema) => {
    const ajv = new Ajv2020();

    expect([ajv.validateSchema(schema), ajv.errors]).toEqual([true, null]);
    expect(ajv.validateSchema({ ...schema, type: 'no type' })).toBe(false);
  });
});
