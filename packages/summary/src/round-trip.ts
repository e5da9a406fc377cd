import type { ProbeResult } from './probe-result.ts';

/** A lost SYN is sent again after a second (RFC 6298), and `timings.connect` includes that. */
export const SYN_AGAIN_MS = 1_000;

/** The time of the result, if it is a round trip; null for one that is not, or may include a packet sent again. */
export function roundTripMs(type: string, { result }: ProbeResult): number | null {
  // `rt` of an http result is the end of its head, which includes work of the server.
  if (type === 'http' || result.rt === undefined || result.rt === null) return null;
  return type === 'tcp' && result.rt >= SYN_AGAIN_MS ? null : result.rt;
}
