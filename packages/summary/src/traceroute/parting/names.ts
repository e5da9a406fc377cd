import { listed, unique } from '../../words.ts';
import { probeResults } from '../end-reason.ts';
import type { Trace } from '../trace.ts';

export function protocolsOf(traces: readonly Trace[]): string {
  return listed(unique(traces.map(({ probeResult }) => (probeResult.result.protocol ?? 'icmp').toUpperCase())));
}

export function namesOf(traces: readonly Trace[]): string {
  return listed(probeResults(traces).map(({ probe }) => probe));
}
