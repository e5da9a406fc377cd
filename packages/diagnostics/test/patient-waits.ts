import type { DnsWaits } from '../src/types/dns/run.ts';

/** For servers that do respond: no query is repeated because a busy machine delayed one. */
export const patientWaits: DnsWaits = {
  oneMs: [30_000, 30_000],
  eachMs: [30_000, 30_000],
  traceMs: [30_000, 30_000],
  uncheckedMs: 60_000,
};
