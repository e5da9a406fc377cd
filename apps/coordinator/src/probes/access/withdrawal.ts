import type { Failure } from '@vantage/contract';

/** Bound of the schema. */
const LONGEST_MESSAGE = 1_024;

/** The failure of a probe that was suspended before it had answered. */
export function suspendedFailure(reason: string): Failure {
  const message = `The probe was suspended before it had answered. ${reason}`.slice(0, LONGEST_MESSAGE);
  return { code: 'probe_suspended', phase: 'dispatch', source: 'probe', message };
}

/** The failure of a probe that was removed before it had answered. */
export function removedFailure(): Failure {
  const message = 'The probe was removed before it had answered.';
  return { code: 'probe_removed', phase: 'dispatch', source: 'probe', message };
}
