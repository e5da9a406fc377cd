import { describe, expect, it } from '@jest/globals';
import {
  checkOfScreenshotJob,
  jobSchema,
  paramsSchema,
  partialResultSchema,
  resultSchema,
  screenshotJobId,
  screenshotParamsSchema,
  type AnyCheckType,
} from '@vantage/contract';
import { checkTypeNames, checkTypes } from '@vantage/diagnostics/contract';
import { Ajv } from 'ajv';

import { failureResult, probeFailure } from '@vantage/agent-loop';
import { createSchemas } from './schemas.ts';

const schemas = createSchemas();
const checkId = 'AAAAAAAAAAAAAAAAAAAAAA';
const screenshotJob = {
  v: 1,
  checkId,
  type: 'screenshot',
  deadlineAt: 1,
  params: { url: 'https://example.com/', insecureSSL: false },
};
type Fields = Readonly<Record<string, unknown>>;
const finishedAt = '2026-01-02T03:04:05.678Z';
const attempts = [{ rt: 1, error: null }];
const success = { result: 'success', rt: 1, resolvedIp: '192.0.2.1', error: null, startedAt: finishedAt, finishedAt };

describe('the schemas of the agent', () => {
  it.each<readonly [string, object]>([
    ['a job', jobSchema],
    ['parameters of a screenshot', screenshotParamsSchema],
    ...Object.values(checkTypes).flatMap((type): readonly (readonly [string, object])[] => [
      [`parameters of ${type.type}`, paramsSchema(type)],
      [`a result of ${type.type}`, resultSchema(type)],
      [`a partial result of ${type.type}`, partialResultSchema(type)],
    ]),
  ])('are JSON Schemas: that of %s', (_which, schema) => {
    const ajv = new Ajv();

    expect([ajv.validateSchema(schema), ajv.errors]).toEqual([true, null]);
    expect(ajv.validateSchema({ ...schema, type: 'no type' })).toBe(false);
  });

  it.each(checkTypeNames)('take the failure of a probe as a result of %s', (type) => {
    const result = JSON.parse(failureResult(probeFailure('probe_interrupted'), null, finishedAt)) as object;

    expect(schemas.writeResult(type, { ...result }).fault).toBeUndefined();
  });

  it.each(checkTypeNames)('refuse the results of %s that its schema refuses, and take the others', (type) => {
    const isResult = new Ajv({ validateFormats: false }).compile(resultSchema(checkTypes[type] as AnyCheckType));
    const failed = JSON.parse(failureResult(probeFailure('probe_interrupted'), null, finishedAt)) as Fields;
    const ofType = Object.keys(checkTypes[type].result).map((name) => [name, {}] as const);
    const changes = [...Object.keys(success), 'stalled', 'extra']
      .flatMap((name) => [undefined, null, 1, 'x', [], {}].map((value) => [name, value] as const))
      .concat(ofType);

    const differing = [failed, success as Fields].flatMap((whole) =>
      changes.flatMap(([name, value]) => {
        const { [name]: _removed, ...rest } = whole;
        const changed = value === undefined ? rest : { ...rest, [name]: value };
        const isTaken = schemas.writeResult(type, changed).fault === undefined;
        return isTaken === isResult(changed) ? [] : [`${name}: ${JSON.stringify(value)}`];
      }),
    );

    expect(differing).toEqual([]);
    expect(isResult(failed)).toBe(true);
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

  it('know a check’s identifier from another, and from the job of its screenshot', () => {
    expect(schemas.isCheckId(checkId)).toBe(true);
    expect(schemas.isCheckId(screenshotJobId(checkId))).toBe(false);
    expect(schemas.isCheckId(checkOfScreenshotJob(screenshotJobId(checkId))!)).toBe(true);
  });

  it('read the job of a screenshot, with whatever a later release adds to it', () => {
    const job = { ...screenshotJob, params: { ...screenshotJob.params, later: 1 } };

    expect(schemas.readScreenshotJob(checkId, job)).toEqual({ job });
  });

  it.each<[string, unknown]>([
    ['of another check', { ...screenshotJob, checkId: 'BBBBBBBBBBBBBBBBBBBBBB' }],
    ['of a check type', { ...screenshotJob, type: 'http' }],
    ['without a URL', { ...screenshotJob, params: { insecureSSL: true } }],
    ['without a deadline', { ...screenshotJob, deadlineAt: undefined }],
    ['that is no job', 'x'],
  ])('read no job of a screenshot %s', (_reason, data) => {
    expect(schemas.readScreenshotJob(checkId, data).fault).toEqual(expect.any(String));
  });

  it('take the job of a screenshot for none of a check', () => {
    expect(schemas.readJob(checkId, screenshotJob).fault).toMatch(/type is unknown/);
  });
});
