import type { Axis, Charge } from './axes.ts';
import { SLICE_MS, WINDOW_MS, type Count, type TargetRefusal } from './window.ts';

/** Maximum number of axes; with one request on each, they take about 50 MB, with one in each second 210. */
const MAX_AXES = 100_000;

interface State {
  usedAt: number;
  /** Costs by slice number, oldest first. */
  readonly slices: Map<number, number>;
  /** Sum of the costs in `slices`. */
  sum: number;
  /** The time of last use of each member, oldest first. */
  readonly members: Map<string, number>;
}

interface AxisDecision {
  readonly admits: boolean;
  readonly count: number;
  readonly waitMs: number;
}

export interface MemoryWindow {
  /**
   * Counts a request like the script in `script.ts`.
   *
   * @param nowMs from a monotonic clock
   */
  readonly count: (charge: Charge, nowMs: number) => Count;
}

/**
 * Counts in the memory of this process. Drops counts that have left the window and, beyond `maxAxes`, the least
 * recently counted axes.
 */
export function createMemoryWindow(maxAxes = MAX_AXES): MemoryWindow {
  const states = new Map<string, State>();

  const evaluate = ({ key, limit, cost = 1, member }: Axis, nowMs: number): AxisDecision => {
    const state = states.get(key) ?? empty();
    return member === undefined
      ? decideSum(state, limit, cost, nowMs)
      : decideDistinct(state.members, limit, member, nowMs);
  };
  const add = ({ key, cost = 1, member }: Axis, nowMs: number): void => {
    const state = states.get(key) ?? empty();
    const slice = Math.floor(nowMs / SLICE_MS);
    if (member === undefined) {
      state.slices.set(slice, (state.slices.get(slice) ?? 0) + cost);
      state.sum += cost;
    } else useMember(state.members, member, nowMs);
    state.usedAt = nowMs;
    states.delete(key);
    states.set(key, state);
  };
  const forget = (nowMs: number): void => {
    for (const [key, { usedAt }] of states) {
      if (states.size <= maxAxes && usedAt > nowMs - WINDOW_MS - SLICE_MS) return;
      states.delete(key);
    }
  };

  return {
    count: ({ client, target }, nowMs) => {
      const [first] = client;
      if (first === undefined) throw new RangeError('a request counts on one axis at least');
      const counts = client.map((axis) => evaluate(axis, nowMs));
      const refused = counts.filter(({ admits }) => !admits);
      // A cost beyond the limit is admitted into an empty window and uses it up.
      const hits = Math.min(counts[0]!.count + (first.cost ?? 1), first.limit);
      if (refused.length > 0) {
        const resetMs = Math.max(...refused.map(({ waitMs }) => waitMs));
        const left = Math.min(...client.map(({ limit }, index) => Math.max(0, limit - counts[index]!.count)));
        return { admitted: false, hits: Math.max(hits, first.limit + 1), left, resetMs };
      }
      const count = { admitted: true, hits, resetMs: counts[0]!.waitMs };
      for (const axis of client) add(axis, nowMs);
      const refusedBy = longestRefusal(target, (axis) => evaluate(axis, nowMs));
      if (refusedBy === undefined) for (const axis of target) add(axis, nowMs);
      forget(nowMs);
      return refusedBy === undefined ? count : { ...count, refusedBy };
    },
  };
}

function empty(): State {
  return { usedAt: 0, slices: new Map(), sum: 0, members: new Map() };
}

function longestRefusal(axes: readonly Axis[], evaluate: (axis: Axis) => AxisDecision): TargetRefusal | undefined {
  let longest: TargetRefusal | undefined;
  for (const [index, axis] of axes.entries()) {
    const { admits, count, waitMs } = evaluate(axis);
    if (admits || waitMs <= (longest?.resetMs ?? 0)) continue;
    longest = { axis: index, left: Math.max(0, axis.limit - count), resetMs: waitMs };
  }
  return longest;
}

/**
 * Decides whether the sum of the costs in the window admits a request, without counting it. Drops slices that have left
 * the window.
 */
function decideSum(state: State, limit: number, cost: number, nowMs: number): AxisDecision {
  const { slices } = state;
  const from = nowMs - WINDOW_MS;
  for (const [slice, costs] of slices) {
    if (sliceEnd(slice) > from) break;
    slices.delete(slice);
    state.sum -= costs;
  }
  // Only the oldest slice can count in part.
  const [oldest] = slices;
  const count = oldest === undefined ? 0 : state.sum - oldest[1] + hitsOf(...oldest, from);
  let excess = Math.max(1, Math.min(count, count + cost - limit));
  let waitMs = slices.size === 0 ? WINDOW_MS : 0;
  for (const [slice, costs] of slices) {
    if (excess <= 0) break;
    const hits = hitsOf(slice, costs, from);
    // The window moves over the slice: the count is down to `left` once only that share of the slice is inside.
    const left = Math.max(0, hits - excess);
    waitMs = Math.ceil(sliceEnd(slice) - (left / costs) * SLICE_MS - from) + 1;
    excess -= hits;
  }
  return { admits: count === 0 || count + cost <= limit, count, waitMs };
}

/** Hits of a slice; the slice at the start of the window counts in part. */
function hitsOf(slice: number, costs: number, from: number): number {
  return Math.ceil(costs * Math.min(1, (sliceEnd(slice) - from) / SLICE_MS));
}

function decideDistinct(members: Map<string, number>, limit: number, member: string, nowMs: number): AxisDecision {
  const from = nowMs - WINDOW_MS;
  for (const [known, usedAt] of members) {
    if (usedAt > from) break;
    members.delete(known);
  }
  const count = members.size;
  if (count < limit || members.has(member)) return { admits: true, count, waitMs: 0 };
  const leaving = [...members.values()][count - limit] ?? nowMs;
  return { admits: false, count, waitMs: leaving - from + 1 };
}

function useMember(members: Map<string, number>, member: string, nowMs: number): void {
  members.delete(member);
  members.set(member, nowMs);
}

function sliceEnd(slice: number): number {
  return (slice + 1) * SLICE_MS;
}
