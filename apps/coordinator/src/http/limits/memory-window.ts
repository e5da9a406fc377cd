import type { Axis } from './axes.ts';
import { SLICE_MS, WINDOW_MS, type Count } from './window.ts';

/** Slices of one axis by their number, oldest first. */
type Slices = Map<number, number>;

/** Enough for a flood of addresses, small enough for a process: some 50 MB at the worst. */
const MAX_AXES = 100_000;

export interface MemoryWindow {
  /**
   * Counts one request on every axis, or on none: what `script.ts` does in Redis.
   *
   * @param nowMs by a clock of the caller's that never goes back
   */
  readonly count: (axes: readonly Axis[], nowMs: number) => Count;
  readonly clear: () => void;
}

/** Counts in the memory of this process. The axes that were counted longest ago are forgotten beyond `maxAxes`. */
export function createMemoryWindow(maxAxes = MAX_AXES): MemoryWindow {
  const axesByKey = new Map<string, Slices>();
  const keep = (key: string, slices: Slices): void => {
    axesByKey.delete(key);
    axesByKey.set(key, slices);
    if (axesByKey.size <= maxAxes) return;
    const [oldest] = axesByKey.keys();
    if (oldest !== undefined) axesByKey.delete(oldest);
  };
  return {
    clear: () => axesByKey.clear(),
    count: (axes, nowMs) => {
      const states = axes.map((axis) => ({ ...axis, slices: axesByKey.get(axis.key) ?? new Map<number, number>() }));
      const counts = states.map(({ slices, limit }) => countOne(slices, limit, nowMs));
      const refused = counts.filter((count) => !count.admitted);
      const [first] = counts;
      if (first === undefined) throw new RangeError('a request counts on one axis at least');
      if (refused.length > 0) {
        const hits = Math.max(first.hits, states[0]!.limit + 1);
        return { admitted: false, hits, resetMs: Math.max(...refused.map(({ resetMs }) => resetMs)) };
      }
      const slice = Math.floor(nowMs / SLICE_MS);
      for (const { key, slices } of states) {
        slices.set(slice, (slices.get(slice) ?? 0) + 1);
        keep(key, slices);
      }
      return first;
    },
  };
}

/** Drops what has left the window; adds nothing. */
function countOne(slices: Slices, limit: number, nowMs: number): Count {
  const from = nowMs - WINDOW_MS;
  for (const slice of slices.keys()) if (sliceEnd(slice) <= from) slices.delete(slice);
  const counted = [...slices].map(([slice, requests]) => ({
    end: sliceEnd(slice),
    requests,
    hits: Math.ceil(requests * Math.min(1, (sliceEnd(slice) - from) / SLICE_MS)),
  }));
  const count = counted.reduce((sum, { hits }) => sum + hits, 0);
  let excess = Math.max(1, count + 1 - limit);
  let resetMs = counted.length === 0 ? WINDOW_MS : 0;
  for (const { end, requests, hits } of counted) {
    if (excess <= 0) break;
    // The slice counts for at most `left` once that share of it is in the window.
    const left = Math.max(0, hits - excess);
    resetMs = Math.ceil(end - (left / requests) * SLICE_MS - from) + 1;
    excess -= hits;
  }
  return { admitted: count + 1 <= limit, hits: count + 1, resetMs };
}

function sliceEnd(slice: number): number {
  return (slice + 1) * SLICE_MS;
}
