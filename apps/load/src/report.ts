import type { Config } from './config.ts';
import type { SecondSummary, TimesSummary } from './measurements.ts';
import type { LoadRun } from './run-load.ts';

/** Content of `report.json`; times in milliseconds. */
export interface LoadReport {
  readonly v: 1;
  readonly startedAt: string;
  readonly config: Config;
  /** Counted seconds: fewer than requested if the load was stopped. */
  readonly countedSeconds: number;
  /** Checks started, accepted and completed, and probe runs, per second. */
  readonly perSecond: {
    readonly started: number;
    readonly accepted: number;
    readonly completed: number;
    readonly probeRuns: number;
  };
  readonly counts: Readonly<Record<string, number>>;
  /** Checks completed more than the promised two seconds after their deadline. */
  readonly late: number;
  /** Probe runs ended by the deadline. */
  readonly unanswered: number;
  readonly errors: Readonly<Record<string, number>>;
  /** Probe runs by failure code, or by outcome without one. */
  readonly results: Readonly<Record<string, number>>;
  readonly times: {
    readonly post: TimesSummary;
    readonly dispatch: TimesSummary;
    readonly queue: TimesSummary;
    readonly completion: TimesSummary;
    readonly lag: TimesSummary;
  };
  readonly seconds: readonly SecondSummary[];
  /** CPU time of the generator, including warm-up. */
  readonly generatorCpuMs: number;
}

export function reportOf(config: Config, { measurements, startedAt, countedSeconds, cpuMs }: LoadRun): LoadReport {
  const { post, dispatch, queue, completion, lag } = measurements;
  const counts = Object.fromEntries(measurements.counts);
  const rateOf = (what: string): number => (countedSeconds === 0 ? 0 : (counts[what] ?? 0) / countedSeconds);
  return {
    v: 1,
    startedAt: startedAt.toISOString(),
    config,
    countedSeconds,
    perSecond: {
      started: rateOf('started'),
      accepted: rateOf('accepted'),
      completed: rateOf('completed'),
      probeRuns: rateOf('probe-runs'),
    },
    counts,
    late: counts['late'] ?? 0,
    unanswered: counts['not answered in time'] ?? 0,
    errors: Object.fromEntries(measurements.errors),
    results: Object.fromEntries(measurements.results),
    times: {
      post: post.summary(),
      dispatch: dispatch.summary(),
      queue: queue.summary(),
      completion: completion.summary(),
      lag: lag.summary(),
    },
    seconds: measurements.seconds(),
    generatorCpuMs: cpuMs,
  };
}
