import { agentMessageSchemas, gatewayMessageSchemas } from '@vantage/contract';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';

describe('the schemas of messages between agents and gateways', () => {
  it.each<readonly [string, object]>([
    ...Object.entries(agentMessageSchemas).map(([type, schema]) => [`${type} of an agent`, schema] as const),
    ...Object.entries(gatewayMessageSchemas).map(([type, schema]) => [`${type} of a gateway`, schema] as const),
  ])('are JSON Schemas: %s', (_which, schema) => {
    const ajv = new Ajv();

    expect([ajv.validateSchema(schema), ajv.errors]).toEqual([true, null]);
    expect(ajv.validateSchema({ ...schema, type: 'no type' })).toBe(false);
  });
});
