import type { DnsWaits } from '../src/types/dns/run.ts';

/** Waits for servers that do respond: so long that no query is repeated because a busy machine delayed its answer. */
export const patientWaits: DnsWaits = {
  oneMs: [30_000, 30_000],
  eachMs: [30_000, 30_000],
  eachStreamMs: 60_000,
  traceMs: [30_000, 30_000],
  uncheckedMs: 60_000,
};
