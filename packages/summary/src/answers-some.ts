import { thresholds } from './thresholds.ts';
import type { ProbeResult, SparseResultOf } from './probe-result.ts';
import { chanceOfMore, sampleOf } from './chance.ts';

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

/**
 * True if, of packets in groups after traces that reached the target, it answered the first ones more often than those
 * that left with them, as a limit does, and left one that came alone unanswered, too: the first of a group, or one with
 * the full TTL. A limit that probes share may then leave one of them without any answer.
 */
export function limitsAnswers(probeResults: readonly ProbeResult[]): boolean {
  const reached = probeResults.map(({ result }) => result as SparseResultOf<'traceroute'>).filter((one) => one.reached);
  const groups = reached.flatMap(({ spaced }) => (spaced === undefined || spaced.handshakes ? [] : spaced.groups));
  const first = sampleOf(groups.flatMap((group) => group.slice(0, 1)));
  const later = sampleOf(groups.flatMap((group) => group.slice(1)));
  const alone = first.lost + sampleOf(reached.flatMap(({ fullTtl }) => fullTtl?.rtts ?? [])).lost;
  return alone > 0 && chanceOfMore(later, first) <= thresholds.lossByChance;
}
