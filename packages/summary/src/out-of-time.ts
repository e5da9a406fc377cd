import type { Failure, FailurePhase } from '@vantage/contract';

/** Phrases for checks that ran out of time, by the phase at that moment (`error.phase`). */
const phrases: Readonly<Partial<Record<FailurePhase, string>>> = {
  resolve: 'the time of the check ended while the name was resolved',
  connect: 'the time of the check ended before a connection was made',
  tls: 'the time of the check ended during the TLS handshake',
  request: 'the time of the check ended while the request was sent',
  response: 'the time of the check ended before an answer came',
};

/** Reason if the check ran out of time; undefined for another failure, and if no phase had begun. */
export function outOfTimeReason(
  error: Partial<Pick<Failure, 'code' | 'phase'>> | null | undefined,
): string | undefined {
  return error?.code === 'probe_timeout' && error.phase !== undefined ? phrases[error.phase] : undefined;
}
