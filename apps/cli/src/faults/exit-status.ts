import { ProblemError } from '@vantage/client';

export const exitStatus = {
  success: 0,
  failure: 1,
  invalid: 2,
  unreachable: 3,
  notMeasured: 4,
  interrupted: 130,
} as const;

/** Exit status of a completed check: probes that could not measure are ignored, unless none could. */
export function statusOfResults(outcomes: readonly string[]): number {
  if (outcomes.some((outcome) => outcome === 'failure' || outcome === 'timeout')) return exitStatus.failure;
  return outcomes.includes('success') ? exitStatus.success : exitStatus.notMeasured;
}

/** Exit status of a failed call. */
export function statusOfFault(error: unknown): number {
  if (!(error instanceof ProblemError)) return exitStatus.unreachable;
  // 422: no suitable probe. 429 and responses without a problem document are not usage errors.
  if (error.status === 422) return exitStatus.notMeasured;
  return error.status < 500 && error.status !== 429 && error.problem !== undefined
    ? exitStatus.invalid
    : exitStatus.unreachable;
}
