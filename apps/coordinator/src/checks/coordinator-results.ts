import type { CommonResult, Failure, FailureCode } from '@vantage/contract';

/** The final result that the coordinator writes for a probe that did not write one, or none that can be used. */
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

/** The final result of a probe that did not answer before the deadline; what it had measured until then stays in it. */
export function timeoutResult(partial: Readonly<Record<string, unknown>>, finishedAtMs: number): CommonResult {
  return {
    rt: null,
    resolvedIp: null,
    startedAt: null,
    ...partial,
    result: 'timeout',
    error: dispatchFailure('probe_timeout', 'The probe did not answer before the deadline of the check.'),
    finishedAt: new Date(finishedAtMs).toISOString(),
  };
}

/** A failure that is between the coordinator and the probe. */
export function dispatchFailure(code: FailureCode, message: string): Failure {
  return { code, phase: 'dispatch', source: 'probe', message };
}
