import { thresholds } from './thresholds.ts';
import type { ProbeResult, SparseResultOf } from './probe-result.ts';

/**
 * True if the target answered packets in traces that reached it, and left half or more unanswered, at least
 * `lostPackets`.
 */
export function answersSome(probeResults: readonly ProbeResult[]): boolean {
  const rows = probeResults.flatMap(({ result }) => {
    const { reached, hops = [], resolvedIp, fullTtl, rounds, spaced } = result as SparseResultOf<'traceroute'>;
    const own = hops.filter(({ responders }) => responders.some(({ ip }) => ip === resolvedIp));
    // A target that stopped answering during the rounds does not limit its answers.
    const counted = own.flatMap(({ rtts }) =>
      rounds === undefined ? rtts : rtts.slice(0, rtts.findLastIndex((rtt) => rtt !== null) + 1),
    );
    const after = (spaced?.received ?? 0) > 0 ? spaced!.groups.flat() : [];
    return reached === true ? [...counted, ...(fullTtl?.rtts ?? []), ...after] : [];
  });
  const lost = rows.filter((rtt) => rtt === null).length;
  return rows.length > lost && lost >= thresholds.lostPackets && lost >= rows.length / 2;
}
