import { TOGETHER_MS } from '../options/spaced-results.ts';

/** One packet of a group that is sent together. */
export interface SpacedPacket {
  readonly group: number;
  sentMs?: number;
  receivedMs?: number;
  /** True once its answer is no longer awaited. */
  isSettled: boolean;
  /** True if its answer may have been missed, because the probe stalled. */
  isLeftOut: boolean;
}

export interface Groups {
  /**
   * For each group, the round-trip times of its packets in sending order, milliseconds; null for packets without an
   * answer.
   */
  readonly groups: (number | null)[][];
  /** Number of answers that arrived before the answer to an earlier packet of their group. */
  readonly reordered: number;
}

/** Number of groups that prove loss: in each a packet was lost before one that was answered. */
const PROVED_GROUPS = 2;
/** Number of lost handshakes that prove loss, whatever their order. */
const PROVED_HANDSHAKES = 2;
/** After this number of groups that lost only their last packets, as under a rate limit, no more are sent. */
const LIMITED_GROUPS = 4;

/**
 * Groups whose packets are all settled. Those that were not sent together, or whose answers may have been missed, prove
 * nothing and are left out.
 */
export function groupsOf(packets: readonly SpacedPacket[]): Groups {
  const settled = [...Map.groupBy(packets, ({ group }) => group).values()].filter(isCounted);
  return {
    groups: settled.map((group) => group.map(rttOf)),
    reordered: settled.reduce((sum, one) => sum + reorderedIn(one), 0),
  };
}

function isCounted(group: readonly SpacedPacket[]): boolean {
  const times = group.flatMap(({ sentMs, isSettled, isLeftOut }) =>
    sentMs === undefined || !isSettled || isLeftOut ? [] : [sentMs],
  );
  return times.length === group.length && Math.max(...times) - Math.min(...times) <= TOGETHER_MS;
}

function rttOf({ sentMs, receivedMs }: SpacedPacket): number | null {
  return sentMs === undefined || receivedMs === undefined ? null : Math.max(0, receivedMs - sentMs);
}

function reorderedIn(group: readonly SpacedPacket[]): number {
  const arrivals = group.flatMap(({ receivedMs }) => receivedMs ?? []);
  return arrivals.filter((atMs, index) => arrivals.slice(0, index).some((earlier) => earlier > atMs)).length;
}

/** True if at least this many groups are settled, and every packet of them was answered. */
export function isClean({ groups }: Groups, atLeast: number): boolean {
  return groups.length >= atLeast && groups.every((group) => group.every((rtt) => rtt !== null));
}

/**
 * True if no further groups are needed to prove loss: in two of them a packet was lost before one that was answered,
 * and no answer overtook another.
 */
export function isProved({ groups, reordered }: Groups): boolean {
  return reordered === 0 && groups.filter(isOutOfOrder).length >= PROVED_GROUPS;
}

/** True if no further handshakes are needed to prove loss. */
export function areLost({ groups }: Groups): boolean {
  return groups.flat().filter((rtt) => rtt === null).length >= PROVED_HANDSHAKES;
}

/**
 * True if enough groups lost packets, and only their last ones, as under a rate limit: further groups would only use up
 * its answers.
 */
export function isLimited({ groups }: Groups): boolean {
  const incomplete = groups.filter((group) => group.length > 1 && group.includes(null));
  return incomplete.length >= LIMITED_GROUPS && !incomplete.some(isOutOfOrder);
}

function isOutOfOrder(group: readonly (number | null)[]): boolean {
  return group.includes(null) && group.findLastIndex((rtt) => rtt !== null) > group.indexOf(null);
}
