import type { SparseResultOf } from '../src/probe-result.ts';

/** The trace with answers of a hop that came too late to count. */
export function withLate<T extends SparseResultOf<'traceroute'>>(result: T, hop: number, late: number): T {
  return { ...result, hops: result.hops!.map((one) => (one.hop === hop ? { ...one, late } : one)) };
}
