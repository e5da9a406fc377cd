import {
  commonResultFields,
  finalFieldsSchema,
  isCheckId,
  jobSchema,
  MAX_RESULT_BYTES,
  paramsSchema,
  partialResultSchema,
  SCREENSHOT_JOB,
  screenshotParamsSchema,
  withoutFinalFields,
  type AnyCheckType,
  type Job,
  type ScreenshotParams,
} from '@vantage/contract';
import { checkTypes, isCheckTypeName, type CheckTypeName } from '@vantage/diagnostics/contract';
import { Ajv, type ValidateFunction } from 'ajv';

import { fitResult, type Fields, type Written } from './fit-result.ts';

/** Validation of the jobs that an agent gets, and of the results that it returns. */
export interface Schemas {
  readonly isCheckId: (id: string) => boolean;
  /** Parses a job and applies option defaults, or returns the fault. */
  readonly readJob: (id: string, data: unknown) => ReadJob;
  /** Parses a screenshot job, or returns the fault. */
  readonly readScreenshotJob: (checkId: string, data: unknown) => ReadScreenshotJob;
  /** Serialises a result, omitting the largest optional fields if it is too long; or returns the fault. */
  readonly writeResult: (type: CheckTypeName, result: Fields) => Written;
  /** Serialises a partial result; undefined if it is invalid or too long. */
  readonly writePartial: (type: CheckTypeName, fields: Fields) => string | undefined;
}

type ReadJob =
  | { readonly job: Job & { readonly type: CheckTypeName }; readonly fault?: undefined }
  | { readonly job?: undefined; readonly fault: string };

type ReadScreenshotJob =
  | { readonly job: Job & { readonly params: ScreenshotParams }; readonly fault?: undefined }
  | { readonly job?: undefined; readonly fault: string };

export function createSchemas(): Schemas {
  // `useDefaults`: a coordinator of an older release omits options that are new here. `validateSchema`: a test
  // validates the schemas, which would take a tenth of the CPU time of an agent's start. `optimize`: it takes a third
  // of the time for which the first job of a type waits, and validation is as fast without it.
  const ajv = new Ajv({ useDefaults: true, validateFormats: false, validateSchema: false, code: { optimize: false } });
  const isJob = ajv.compile<Job>(jobSchema);
  const areScreenshotParams = ajv.compile<ScreenshotParams>(screenshotParamsSchema);
  const schemasOf = perType((type) => ({
    params: ajv.compile(paramsSchema(type)),
    partial: ajv.compile(partialResultSchema(type)),
    // Used together with the schema of partial results: a schema of whole results would compile all fields a second
    // time.
    final: ajv.compile(finalFieldsSchema(type)),
    required: new Set([...Object.keys(commonResultFields), ...type.requiredOnSuccess]),
  }));

  return {
    isCheckId,
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
      const { final, partial, required } = schemasOf(type);
      if (!final(result)) return { fault: faultOf(final) };
      return partial(withoutFinalFields(result)) ? fitResult(result, required) : { fault: faultOf(partial) };
    },
    writePartial: (type, fields) => {
      if (!schemasOf(type).partial(fields)) return undefined;
      const json = JSON.stringify(fields);
      return Buffer.byteLength(json) > MAX_RESULT_BYTES ? undefined : json;
    },
  };
}

/** Compiles the schemas of a type on first use, which takes 45 to 110 ms of CPU. */
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

/** Location and rule only: values of the data stay out of the message. */
function faultOf({ errors }: ValidateFunction): string {
  const [error] = errors ?? [];
  return error === undefined ? 'is not valid' : `${error.instancePath} ${error.message}`;
}
