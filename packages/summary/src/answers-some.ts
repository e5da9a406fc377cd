import { thresholds } from './thresholds.ts';
import type { ProbeResult, SparseResultOf } from './probe-result.ts';
import { chanceOfMore, sampleOf } from './chance.ts';

/**
 * True if the target left half or more of its packets in traces that reached it unanswered, at least `lostPackets`, but
 * not all. Counts the packets to its hops, those with the full TTL, and those in groups after the trace unless all of
 * the latter were unanswered.
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
 * True if the target seems to rate-limit its answers to all probes together, so that one of them may get none. In
 * groups of packets after traces that reached it, it answered the first packets significantly more often than the later
 * ones, as a rate limit does. It also left a lone packet unanswered: the first of a group, or one with the full TTL.
 */
export function limitsAnswers(probeResults: readonly ProbeResult[]): boolean {
  const reached = probeResults.map(({ result }) => result as SparseResultOf<'traceroute'>).filter((one) => one.reached);
  const groups = reached.flatMap(({ spaced }) => (spaced === undefined || spaced.handshakes ? [] : spaced.groups));
  const first = sampleOf(groups.flatMap((group) => group.slice(0, 1)));
  const later = sampleOf(groups.flatMap((group) => group.slice(1)));
  const alone = first.lost + sampleOf(reached.flatMap(({ fullTtl }) => fullTtl?.rtts ?? [])).lost;
  return alone > 0 && chanceOfMore(later, first) <= thresholds.lossByChance;
}
