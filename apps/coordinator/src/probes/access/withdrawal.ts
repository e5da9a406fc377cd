import type { Failure } from '@vantage/contract';

/** Maximum length of the message of a failure in the schema of results. */
const LONGEST_MESSAGE = 1_024;

export function suspendedFailure(reason: string): Failure {
  const message = `The probe was suspended before it had answered. ${reason}`.slice(0, LONGEST_MESSAGE);
  return { code: 'probe_suspended', phase: 'dispatch', source: 'probe', message };
}

export function removedFailure(): Failure {
  const message = 'The probe was removed before it had answered.';
  return { code: 'probe_removed', phase: 'dispatch', source: 'probe', message };
}
