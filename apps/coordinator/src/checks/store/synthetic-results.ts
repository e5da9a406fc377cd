import { MAX_RESULT_BYTES, type CommonResult, type Failure, type FailureCode } from '@vantage/contract';

/** The final result that the coordinator writes for a probe without a valid one. */
export function errorResult(code: FailureCode, message: string, finishedAtMs: number): CommonResult {
  return {
    result: 'error',
    rt: null,
    resolvedIp: null,
    error: dispatchFailure(code, message),
    startedAt: null,
    finishedAt: new Date(finishedAtMs).toISOString(),
  };
}

/** The final result of a probe that missed the deadline, with the measured fields of `partial` if they fit. */
export function timeoutResult(partial: Readonly<Record<string, unknown>>, finishedAtMs: number): CommonResult {
  const message = 'The probe did not answer before the deadline of the check.';
  return withMeasured({ ...errorResult('probe_timeout', message, finishedAtMs), result: 'timeout' }, partial);
}

/**
 * The final result of a probe that was suspended or removed before it had answered, with the measured fields of
 * `partial` if they fit.
 */
export function withdrawnResult(
  failure: Failure,
  partial: Readonly<Record<string, unknown>>,
  finishedAtMs: number,
): CommonResult {
  return withMeasured(errorResult(failure.code, failure.message, finishedAtMs), partial);
}

/** Failure codes of final results that may contain less than the partial results before them. */
const cutShort: ReadonlySet<FailureCode> = new Set([
  'probe_interrupted',
  'probe_timeout',
  'invalid_result',
  'internal_error',
]);

/** True for a result that may contain less than the probe's partial results, such as that of a restarted agent. */
export function isCutShort({ error }: Pick<CommonResult, 'error'>): boolean {
  return error !== null && cutShort.has(error.code);
}

/**
 * Fills fields that a final result lacks, or has as null, from the probe's newest partial result. Returns the final one
 * unchanged if both are too large together.
 */
export function withMeasured(final: CommonResult, partial: Readonly<Record<string, unknown>>): CommonResult {
  const known = Object.fromEntries(Object.entries(final).filter(([, value]) => value !== null));
  const whole = { ...final, ...partial, ...known };
  return Buffer.byteLength(JSON.stringify(whole)) > MAX_RESULT_BYTES ? final : whole;
}

/** A failure of the phase `dispatch`. */
export function dispatchFailure(code: FailureCode, message: string): Failure {
  return { code, phase: 'dispatch', source: 'probe', message };
}
