import type { Failure, FailureCode, FailurePhase, FailureSource } from '@vantage/contract';

interface Verdict {
  readonly code: FailureCode;
  readonly source: FailureSource;
  readonly message: string;
}

/** What each errno of a socket means; the texts are ours, since Node's differ between versions. */
const byErrno: Readonly<Record<string, Verdict>> = {
  ECONNREFUSED: { code: 'connection_refused', source: 'target', message: 'The target refused the connection.' },
  ECONNRESET: { code: 'connection_reset', source: 'target', message: 'The target reset the connection.' },
  EPIPE: { code: 'connection_closed', source: 'target', message: 'The target closed the connection.' },
  EHOSTUNREACH: { code: 'host_unreachable', source: 'network', message: 'The host cannot be reached.' },
  EHOSTDOWN: { code: 'host_unreachable', source: 'network', message: 'The host is down.' },
  ENETUNREACH: { code: 'network_unreachable', source: 'network', message: 'There is no route to the network.' },
  ETIMEDOUT: { code: 'timed_out', source: 'network', message: 'Nothing came back in time.' },
  EMSGSIZE: { code: 'packet_too_big', source: 'network', message: 'The packet is larger than the path carries.' },
  EPROTO: { code: 'protocol_unreachable', source: 'target', message: 'The target does not speak the protocol.' },
  ENOPROTOOPT: { code: 'protocol_unreachable', source: 'target', message: 'The target does not speak the protocol.' },
  EACCES: { code: 'administratively_prohibited', source: 'network', message: 'A filter forbids the traffic.' },
  EPERM: { code: 'administratively_prohibited', source: 'network', message: 'A filter forbids the traffic.' },
  EADDRNOTAVAIL: { code: 'family_unavailable', source: 'probe', message: 'The probe has no address of this family.' },
  EAFNOSUPPORT: {
    code: 'family_unavailable',
    source: 'probe',
    message: 'The probe does not speak this address family.',
  },
};

/**
 * Turns what Node threw into a failure. Total: what it does not know is `internal_error` of the probe. The only place
 * that reads errno.
 *
 * @param phase where the check was when it was thrown
 */
export function classifyError(thrown: unknown, phase: FailurePhase): Failure {
  const errno = errorCode(thrown);
  const verdict = errno === undefined ? undefined : byErrno[errno];
  if (verdict !== undefined) return { phase, ...verdict };
  const name = errno ?? (Error.isError(thrown) ? thrown.name : typeof thrown);
  return {
    code: 'internal_error',
    phase,
    source: 'probe',
    message: `The probe failed by a fault of its own (${name}).`,
  };
}

/** The failure of a wait that ended with nothing. */
export function timedOut(phase: FailurePhase, message = 'Nothing came back in time.'): Failure {
  return { code: 'timed_out', phase, source: 'network', message };
}

function errorCode(thrown: unknown): string | undefined {
  if (!Error.isError(thrown) || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}
