/** Time from one round to the next. */
export const ROUND_MS = 1_000;

export interface RoundPacket {
  /** Number of the round, from 2 on: the trace is the first. */
  readonly round: number;
  readonly ttl: number;
  /** Milliseconds after the start of round 2; the packets of a round are spread evenly over its second. */
  readonly dueMs: number;
}

/**
 * The packets of all rounds in sending order. The last hop gets one in every round, a second apart; if the budget is
 * too small for all, the hops before it take turns, and each gets the same number. Their order varies: with an even
 * number of packets per round, a round-robin balancer would otherwise send those of a hop over the same path in every
 * round.
 */
export function roundSchedule(first: number, last: number, rounds: number, maxPackets: number): readonly RoundPacket[] {
  const hops = last - first + 1;
  const more = rounds - 1;
  const routers = hops - 1;
  if (hops < 1 || more < 1) return [];
  const ofEach = routers === 0 ? 0 : Math.max(0, Math.min(more, Math.floor((maxPackets - more) / routers)));
  const isAsked = (ttl: number, index: number): boolean => {
    // Each hop starts at another offset, so that the numbers of packets per round differ by at most one.
    const shift = (ttl - first + 1) / hops;
    return Math.floor(((index + 1) * ofEach) / more + shift) > Math.floor((index * ofEach) / more + shift);
  };
  return Array.from({ length: Math.min(more, maxPackets) }, (_, index) =>
    Array.from({ length: hops }, (__, hop) => first + hop)
      .filter((ttl) => ttl === last || isAsked(ttl, index))
      .map((ttl) => ({
        round: index + 2,
        ttl,
        dueMs: (index + slotOf(ttl - first, hops, index) / (hops + 1)) * ROUND_MS,
      }))
      .toSorted((a, b) => a.dueMs - b.dueMs),
  ).flat();
}

/**
 * Position of a hop’s packet within a round: its own, or swapped with that of a neighbour, the lower one in one round
 * and the upper one in the next. The first hop begins each round, and the last hop keeps its place: its neighbour comes
 * after it instead.
 *
 * @param position of the hop, from 0
 */
function slotOf(position: number, hops: number, round: number): number {
  const isUpper = (position + round) % 2 === 0;
  const lower = isUpper ? position - 1 : position;
  if (lower < 1 || lower + 1 >= hops || position === hops - 1 || !isExchanged(lower, round)) return position;
  return isUpper ? lower : lower + 2 === hops ? hops : lower + 1;
}

/** True in one of any two rounds that pair a hop with the same neighbour; depends on hop and round only. */
function isExchanged(lower: number, round: number): boolean {
  const turn = Math.floor(round / 2);
  const mixed = Math.imul(Math.imul(lower + 1, 0x9e3779b1) ^ Math.imul((turn >> 1) + 1, 0x85ebca6b), 0xc2b2ae35);
  return ((mixed >>> 20) & 1) === (turn & 1);
}
