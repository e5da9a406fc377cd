import { describe, expect, it } from '@jest/globals';
import { checkTypeNames } from '@vantage/diagnostics/contract';

import { failureResult, probeFailure } from './handle-job.ts';
import { createSchemas } from './schemas.ts';

const schemas = createSchemas();
const finishedAt = '2026-01-02T03:04:05.678Z';
const attempts = [{ rt: 1, error: null }];
const success = { result: 'success', rt: 1, resolvedIp: '192.0.2.1', error: null, startedAt: finishedAt, finishedAt };

describe('the schemas of the agent', () => {
  it.each(checkTypeNames)('take the failure of a probe as a result of %s', (type) => {
    const result = JSON.parse(failureResult(probeFailure('probe_interrupted'), null, finishedAt)) as object;

    expect(schemas.writeResult(type, { ...result }).fault).toBeUndefined();
  });

  it('tell what is wrong with a result', () => {
    expect(schemas.writeResult('tcp', success).fault).toMatch(/required property 'state'/);
    expect(schemas.writeResult('tcp', { ...success, result: 'pending' }).fault).toMatch('/result');
    expect(schemas.writeResult('tcp', { ...success, state: 'open', port: 80, attempts, extra: 1 }).fault).toMatch(
      /additional/,
    );
  });

  it('write a result that fits as it is', () => {
    const { json, left } = schemas.writeResult('tcp', { ...success, state: 'open', port: 80, attempts });

    expect(JSON.parse(json!)).toMatchObject({ state: 'open', port: 80 });
    expect(left).toEqual([]);
  });

  it('show no partial state that breaks its schema', () => {
    expect(schemas.writePartial('tcp', { port: 80 })).toBe('{"port":80}');
    expect(schemas.writePartial('tcp', { port: 0 })).toBeUndefined();
    expect(schemas.writePartial('tcp', { result: 'success' })).toBeUndefined();
  });

  it('know a check’s identifier from another', () => {
    expect(schemas.isCheckId('AAAAAAAAAAAAAAAAAAAAAA')).toBe(true);
    expect(schemas.isCheckId('AAAAAAAAAAAAAAAAAAAAAA.shot')).toBe(false);
  });
});
