import { ProblemError } from '@vantage/client';
import { exitStatus } from '@vantage/command-line';

/** Exit status of a failed call. */
export function statusOfFault(error: unknown): number {
  if (!(error instanceof ProblemError)) return exitStatus.unreachable;
  // 422: no suitable probe. 429 and responses without a problem document are not usage errors.
  if (error.status === 422) return exitStatus.notMeasured;
  return error.status < 500 && error.status !== 429 && error.problem !== undefined
    ? exitStatus.invalid
    : exitStatus.unreachable;
}
