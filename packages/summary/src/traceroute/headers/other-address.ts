import { buildFinding, type FindingDraft } from '../../finding.ts';
import { listed, naming, safeText, unique } from '../../words.ts';
import { probeResults } from '../end-reason.ts';
import type { Trace } from '../trace.ts';

/** Finding: the target answered traces from another address than the measured one, as behind address translation. */
export function findOtherAddress(traces: readonly Trace[]): readonly FindingDraft[] {
  const odd = traces.filter((trace) => trace.isFinal && sendersOf(trace).length > 0);
  if (odd.length === 0) return [];
  const addresses = listed(unique(odd.flatMap(sendersOf)).map((ip) => safeText(ip, 45)));
  const text = `The answers at the end of the path came from ${addresses}, not from the measured address, at ${naming(probeResults(odd))}: a host with several addresses, or another device in its place.`;
  return [buildFinding('replies_odd', 'info', probeResults(odd), text)];
}

function sendersOf({ probeResult: { result } }: Trace): readonly string[] {
  return result.answeredFrom ?? [];
}
