/** Time from one round to the next. */
export const ROUND_MS = 1_000;

export interface RoundPacket {
  /** Number of the round, from 2 on: the trace is the first. */
  readonly round: number;
  readonly ttl: number;
  /** Milliseconds after the first packet of round 2; the packets of a round are spread evenly over its second. */
  readonly dueMs: number;
}

/**
 * The packets of all rounds in sending order. The last hop gets one in every round; if the budget is too small for all,
 * the hops before it take turns, and each gets the same number.
 */
export function roundSchedule(first: number, last: number, rounds: number, maxPackets: number): readonly RoundPacket[] {
  const hops = last - first + 1;
  const more = rounds - 1;
  const routers = hops - 1;
  if (hops < 1 || more < 1) return [];
  const ofEach = routers === 0 ? 0 : Math.max(0, Math.min(more, Math.floor((maxPackets - more) / routers)));
  const isAsked = (ttl: number, index: number): boolean => {
    // Shifted by hop, so that the numbers of packets in the rounds differ by one at most.
    const shift = (ttl - first + 1) / hops;
    return Math.floor(((index + 1) * ofEach) / more + shift) > Math.floor((index * ofEach) / more + shift);
  };
  return Array.from({ length: Math.min(more, maxPackets) }, (_, index) =>
    Array.from({ length: hops }, (__, hop) => first + hop)
      .filter((ttl) => ttl === last || isAsked(ttl, index))
      .map((ttl) => ({ round: index + 2, ttl, dueMs: (index + (ttl - first) / hops) * ROUND_MS })),
  ).flat();
}
