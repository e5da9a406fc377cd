import type { Failure, FailureCode } from '@vantage/contract';

/** The result of a job that failed because of the probe; valid for every check type. */
export function failureResult(error: Failure, startedAt: string | null, finishedAt: string): string {
  return JSON.stringify({ result: 'error', rt: null, resolvedIp: null, error, startedAt, finishedAt });
}

const messages = {
  invalid_job: 'The probe could not read the job; its release may be older than the coordinator’s.',
  capability_missing: 'The probe does not offer checks of this type.',
  invalid_result: 'What the probe measured was not a valid result.',
  internal_error: 'An internal error of the probe.',
  probe_interrupted: 'The probe restarted or stopped while it ran the check.',
  probe_timeout: 'The probe did not come to an end before the deadline of the check.',
} satisfies Partial<Record<FailureCode, string>>;

export function probeFailure(code: keyof typeof messages): Failure {
  const phase = code === 'invalid_job' || code === 'capability_missing' ? 'dispatch' : 'exec';
  return { code, phase, source: 'probe', message: messages[code] };
}
