import { thresholds } from './thresholds.ts';
import type { ProbeResult, SparseResultOf } from './probe-result.ts';

/**
 * True if, in traces that reached the target, half or more of the packets to its hops, with the full TTL and in groups
 * after the trace got no answer, at least `lostPackets`, and some got one.
 */
export function answersSome(probeResults: readonly ProbeResult[]): boolean {
  const rows = probeResults.flatMap(({ result }) => {
    const { reached, hops = [], resolvedIp, fullTtl, rounds, spaced } = result as SparseResultOf<'traceroute'>;
    const own = hops.filter(({ responders }) => responders.some(({ ip }) => ip === resolvedIp));
    // In rounds, packets after the last answer do not count: the target may have stopped answering.
    const counted = own.flatMap(({ rtts }) =>
      rounds === undefined ? rtts : rtts.slice(0, rtts.findLastIndex((rtt) => rtt !== null) + 1),
    );
    const after = (spaced?.received ?? 0) > 0 ? spaced!.groups.flat() : [];
    return reached === true ? [...counted, ...(fullTtl?.rtts ?? []), ...after] : [];
  });
  const lost = rows.filter((rtt) => rtt === null).length;
  return rows.length > lost && lost >= thresholds.lostPackets && lost >= rows.length / 2;
}
