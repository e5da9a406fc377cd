import type { DnsWaits } from '../src/types/dns/run.ts';

/** For servers that do answer: no question is sent twice because a busy machine let one wait. */
export const patientWaits: DnsWaits = {
  oneMs: [30_000, 30_000],
  eachMs: [30_000, 30_000],
  traceMs: [30_000, 30_000],
  uncheckedMs: 60_000,
};
