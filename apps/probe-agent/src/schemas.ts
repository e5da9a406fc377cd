import {
  checkIdSchema,
  commonResultFields,
  jobSchema,
  MAX_RESULT_BYTES,
  paramsSchema,
  partialResultSchema,
  resultSchema,
  SCREENSHOT_JOB,
  screenshotParamsSchema,
  type AnyCheckType,
  type Job,
  type ScreenshotParams,
} from '@vantage/contract';
import { checkTypes, isCheckTypeName, type CheckTypeName } from '@vantage/diagnostics/contract';
import { Ajv, type ValidateFunction } from 'ajv';

import { fitResult, type Fields, type Written } from './fit-result.ts';

/** What goes over the wire, checked on both ways. */
export interface Schemas {
  readonly isCheckId: (id: string) => boolean;
  /** The job, its options with their defaults; or why it cannot be read. */
  readonly readJob: (id: string, data: unknown) => ReadJob;
  /** The job that takes the screenshot of a check, or why it cannot be read. */
  readonly readScreenshotJob: (checkId: string, data: unknown) => ReadScreenshotJob;
  /** The result as JSON, without its largest fields where it would be too long; or why it is none. */
  readonly writeResult: (type: CheckTypeName, result: Fields) => Written;
  /** As JSON, or undefined where it cannot be shown. */
  readonly writePartial: (type: CheckTypeName, fields: Fields) => string | undefined;
}

type ReadJob =
  | { readonly job: Job & { readonly type: CheckTypeName }; readonly fault?: undefined }
  | { readonly job?: undefined; readonly fault: string };

type ReadScreenshotJob =
  | { readonly job: Job & { readonly params: ScreenshotParams }; readonly fault?: undefined }
  | { readonly job?: undefined; readonly fault: string };

export function createSchemas(): Schemas {
  // A coordinator of an older release may leave out an option that is new here.
  const ajv = new Ajv({ useDefaults: true, validateFormats: false });
  const isCheckId = ajv.compile(checkIdSchema);
  const isJob = ajv.compile<Job>(jobSchema);
  const areScreenshotParams = ajv.compile<ScreenshotParams>(screenshotParamsSchema);
  const schemasOf = perType((type) => ({
    params: ajv.compile(paramsSchema(type)),
    result: ajv.compile(resultSchema(type)),
    partial: ajv.compile(partialResultSchema(type)),
  }));

  return {
    isCheckId: (id) => isCheckId(id),
    readJob: (id, data) => {
      if (!isJob(data)) return { fault: faultOf(isJob) };
      const { type, checkId } = data;
      if (checkId !== id) return { fault: 'its check is not the one that it is queued for' };
      if (!isCheckTypeName(type)) return { fault: 'its check type is unknown' };
      const { params } = schemasOf(type);
      if (!params(data.params)) return { fault: `params${faultOf(params)}` };
      return { job: { ...data, type } };
    },
    readScreenshotJob: (checkId, data) => {
      if (!isJob(data)) return { fault: faultOf(isJob) };
      const { params } = data;
      if (data.checkId !== checkId) return { fault: 'its check is not the one that it is queued for' };
      if (data.type !== SCREENSHOT_JOB) return { fault: 'it is no job for a screenshot' };
      if (!areScreenshotParams(params)) return { fault: `params${faultOf(areScreenshotParams)}` };
      return { job: { ...data, params } };
    },
    writeResult: (type, result) => {
      const { result: isResult } = schemasOf(type);
      if (!isResult(result)) return { fault: faultOf(isResult) };
      return fitResult(result, new Set([...Object.keys(commonResultFields), ...checkTypes[type].requiredOnSuccess]));
    },
    writePartial: (type, fields) => {
      if (!schemasOf(type).partial(fields)) return undefined;
      const json = JSON.stringify(fields);
      return Buffer.byteLength(json) > MAX_RESULT_BYTES ? undefined : json;
    },
  };
}

/** Schemas compile in milliseconds: once per type, when it is first needed. */
function perType<T>(make: (type: AnyCheckType) => T): (type: CheckTypeName) => T {
  const made = new Map<string, T>();
  return (type) => {
    const known = made.get(type);
    if (known !== undefined) return known;
    const value = make(checkTypes[type]);
    made.set(type, value);
    return value;
  };
}

/** Our own words about where: what is there stays out of it. */
function faultOf({ errors }: ValidateFunction): string {
  const [error] = errors ?? [];
  return error === undefined ? 'is not valid' : `${error.instancePath} ${error.message}`;
}
