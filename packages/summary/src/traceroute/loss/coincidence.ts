import { choices } from '../../chance.ts';
import type { Step, Trace } from '../trace.ts';

interface Seen {
  readonly trace: Trace;
  readonly step: Step;
}

/** Probability of each number of packets that are lost at both of two hops. */
type Distribution = readonly number[];

/**
 * Probability that, by chance alone, this many of the packets that left together are unanswered at both of two
 * neighbouring routers. Loss hits the packets to each router independently; missing answers coincide if the same
 * packets use up the limits of both.
 */
export function coincidence(routers: readonly (readonly Seen[])[]): number {
  const pairs = routers.slice(1).flatMap((own, index) => pairsOf(routers[index]!, own));
  const both = pairs.reduce((sum, [a, b]) => sum + a.filter((isLost, i) => isLost && b[i]).length, 0);
  const chances = pairs.map(([a, b]) => distributionOf(a.length, countOf(a), countOf(b)));
  return chances
    .reduce<Distribution>(sumOfBoth, [1])
    .slice(both)
    .reduce((sum, one) => sum + one, 0);
}

/** For each trace with both hops: whether the answer to each packet is missing. */
function pairsOf(before: readonly Seen[], after: readonly Seen[]): readonly (readonly [boolean[], boolean[]])[] {
  return before.flatMap((one) => {
    const same = after.find(({ trace }) => trace === one.trace);
    // A search for all paths sends its packets hop by hop.
    if (same === undefined || one.trace.branching.length > 0) return [];
    const [a, b] = [lostAt(one), lostAt(same)];
    const length = Math.min(a.length, b.length);
    return [[a.slice(0, length), b.slice(0, length)] as const];
  });
}

function lostAt({ trace, step }: Seen): boolean[] {
  const hop = (trace.probeResult.result.hops ?? []).find((one) => one.hop === step.hop);
  return (hop?.rtts ?? []).map((rtt) => rtt === null);
}

function countOf(row: readonly boolean[]): number {
  return row.filter(Boolean).length;
}

/**
 * Hypergeometric distribution of the number of packets that two hops both leave unanswered, if one leaves `a` and the
 * other, independently, `b` of the same `sent` packets unanswered.
 */
function distributionOf(sent: number, a: number, b: number): Distribution {
  return Array.from({ length: Math.min(a, b) + 1 }, (_, both) =>
    b - both > sent - a ? 0 : Math.exp(choices(a, both) + choices(sent - a, b - both) - choices(sent, b)),
  );
}

function sumOfBoth(one: Distribution, other: Distribution): Distribution {
  const sums = Array.from({ length: one.length + other.length - 1 }, () => 0);
  for (const [i, p] of one.entries()) for (const [j, q] of other.entries()) sums[i + j]! += p * q;
  return sums;
}
