import { quantile } from '../../bench/goals.ts';

export interface Latencies {
  readonly p99Ms: number;
  readonly longestMs: number;
}

/** Measures requests that overlap, by their numbers; those that are under way count by their age. */
export function createStopwatch(): {
  readonly begin: (id: number) => void;
  readonly end: (id: number) => void;
  readonly read: () => Latencies;
} {
  const underWay = new Map<number, number>();
  let ended: number[] = [];
  return {
    begin: (id) => void underWay.set(id, performance.now()),
    end: (id) => {
      const begun = underWay.get(id);
      if (begun !== undefined) ended.push(performance.now() - begun);
      underWay.delete(id);
    },
    read: () => {
      const now = performance.now();
      const all = [...ended, ...[...underWay.values()].map((begun) => now - begun)];
      ended = [];
      return { p99Ms: quantile(all, 0.99), longestMs: Math.max(0, ...all) };
    },
  };
}
