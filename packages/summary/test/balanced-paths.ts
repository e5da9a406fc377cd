import type { SparseResultOf } from '../src/probe-result.ts';
import type { Random } from '@vantage/test-support/random/seeded';
import { trace } from './results.ts';

/** A router, or the alternatives of a load balancer, each a list of its hops. */
export type Segment = string | readonly (readonly string[])[];

export interface TraceOptions {
  readonly flows: number;
  readonly queries: number;
  /** Whether a balancer chooses the path per flow or per packet. */
  readonly balancing: 'flow' | 'packet';
  /** Share of unanswered packets, 0 to 1. */
  readonly loss?: number;
  /** Routers that never answer. */
  readonly silent?: ReadonlySet<string>;
}

export const TARGET = '203.0.113.1';

/** One trace of a path with load balancers, as a probe reports it; flows have new ports each time. */
export function traced(path: readonly Segment[], options: TraceOptions, random: Random): ReturnType<typeof trace> {
  const { flows, queries, balancing, loss = 0, silent = new Set<string>() } = options;
  // Loops, because they are fast, and trials choose millions of paths.
  const way = (): readonly string[] => {
    const hops: string[] = [];
    for (const segment of path) {
      if (typeof segment === 'string') hops.push(segment);
      else for (const hop of segment[Math.floor(random() * segment.length)]!) hops.push(hop);
    }
    hops.push(TARGET);
    return hops;
  };
  const longest = path.reduce(
    (sum, part) => sum + (typeof part === 'string' ? 1 : Math.max(...part.map((p) => p.length))),
    1,
  );
  const answers = Array.from({ length: flows }, () => {
    const ofFlow = way();
    return Array.from({ length: longest }, (_, index) =>
      Array.from({ length: queries }, () => {
        const ip = (balancing === 'flow' ? ofFlow : way())[index] ?? TARGET;
        return silent.has(ip) || random() < loss ? null : ip;
      }),
    );
  });
  // A trace sends a flow's packets no further than the target.
  const ended = answers.map((hops) => {
    const end = hops.findIndex((ips) => ips.includes(TARGET));
    return end === -1 ? hops : hops.slice(0, end + 1);
  });
  const length = Math.max(...ended.map((hops) => hops.length));
  const responders = Array.from({ length }, (_, index) => [
    ...new Set(ended.flatMap((hops) => (hops[index] ?? []).filter((ip) => ip !== null))),
  ]);
  const texts = responders.map((ips) => (ips.length === 0 ? '* *' : `${ips.join('/')} 5 5`));
  const flowPaths: NonNullable<SparseResultOf<'traceroute'>['flows']> = ended.map((hops) => ({
    reached: true,
    stopReason: 'completed',
    hops: hops.map((ips, index) => ips.map((ip) => (ip === null ? null : responders[index]!.indexOf(ip)))),
  }));
  return trace(texts, { flows: flowPaths, reached: true, target: TARGET });
}
