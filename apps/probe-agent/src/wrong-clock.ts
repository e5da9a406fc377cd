/**
 * Tolerated error of the clock. Certificates, which are checked against it, are valid for longer, and so are DNSSEC
 * signatures, which a resolver on this machine checks; deadlines do not depend on it.
 */
const MOST_OFFSET_MS = 2 * 60 * 60 * 1_000;

const WRONG_CLOCK =
  'The clock of this machine differs from that of the service by more than two hours: results about certificates and DNSSEC are wrong.';

/**
 * @param serviceMs clock of Redis, milliseconds since the epoch
 * @param ownMs clock of this machine
 * @returns why the probe is degraded; empty if the clock is right
 */
export function wrongClock(serviceMs: number, ownMs: number): readonly string[] {
  return Math.abs(serviceMs - ownMs) > MOST_OFFSET_MS ? [WRONG_CLOCK] : [];
}
