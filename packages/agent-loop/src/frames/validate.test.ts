import { agentMessageSchemas, gatewayMessageSchemas } from '@vantage/contract';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';

import { decodeFrame, encodeMessage } from './frames.ts';
import { createAgentMessageReader } from './validate.ts';

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

describe('a message of an agent that is none', () => {
  const check = 'A'.repeat(22);

  it.each<readonly [object, string]>([
    [
      { t: 'result', seq: 1, check, kind: 'final', data: 'x'.repeat(90_000) },
      'invalid message: result/data must NOT have more than 65536 characters',
    ],
    [{ t: 'time' }, "invalid message: time must have required property 'id'"],
    [{ t: 'status', status: {} }, "invalid message: status/status must have required property 'capabilities'"],
    [{ t: 'x'.repeat(300) }, 'invalid message: t is of no message'],
    [[], 'invalid message: t is of no message'],
  ])('is named with its field', (message, reason) => {
    expect(createAgentMessageReader().faultOf(message)).toBe(reason);
  });
});

describe('a message', () => {
  it.each([
    ['x', 1_000, false],
    ['x', 1_100, true],
    ['\u{e9}', 500, false],
    ['\u{e9}', 600, true],
  ])('is compressed above 1 KiB: %s, %i times', (text, times, isCompressed) => {
    const message = { t: 'x', text: text.repeat(times) };
    const payload = encodeMessage(message);

    expect(Buffer.isBuffer(payload)).toBe(isCompressed);
    expect(decodeFrame(Buffer.from(payload), isCompressed)).toMatchObject({ kind: 'message', message });
  });
});
