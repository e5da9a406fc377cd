import { ofType, type ProbeResult } from './probe-result.ts';

/** Payload of ping(8) by default. */
export const ORDINARY_PAYLOAD_BYTES = 56;

/** ` of 1400 bytes of payload`, if pings had more than the default of ping(8): a path may drop only large packets. */
export function payloadText(probeResults: readonly ProbeResult[]): string {
  const size = Math.max(0, ...ofType<'ping'>(probeResults).map(({ result }) => result.size ?? 0));
  return size > ORDINARY_PAYLOAD_BYTES ? ` of ${size} bytes of payload` : '';
}
