import { ProblemError } from '@vantage/client';

export const exitStatus = {
  success: 0,
  failure: 1,
  invalid: 2,
  unreachable: 3,
  notMeasured: 4,
  interrupted: 130,
} as const;

/** Of a completed check: probes that could not measure say nothing about the target, unless all are such. */
export function statusOfResults(outcomes: readonly string[]): number {
  if (outcomes.some((outcome) => outcome === 'failure' || outcome === 'timeout')) return exitStatus.failure;
  return outcomes.includes('success') ? exitStatus.success : exitStatus.notMeasured;
}

/** Of a call that came to nothing. */
export function statusOfFault(error: unknown): number {
  if (!(error instanceof ProblemError)) return exitStatus.unreachable;
  // 422: no probe can take the check. 429 and whatever is no problem document are no fault of the words.
  if (error.status === 422) return exitStatus.notMeasured;
  return error.status < 500 && error.status !== 429 && error.problem !== undefined
    ? exitStatus.invalid
    : exitStatus.unreachable;
}
