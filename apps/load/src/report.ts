import type { Config } from './config.ts';
import type { SecondSummary, TimesSummary } from './measurements.ts';
import type { LoadRun } from './run-load.ts';

/** What `report.json` holds; times in milliseconds. */
export interface LoadReport {
  readonly v: 1;
  readonly startedAt: string;
  readonly config: Config;
  /** Seconds for which checks were counted: fewer than were asked for where the load was stopped. */
  readonly countedSeconds: number;
  /** Checks that were started, accepted and completed, and their probe-runs, a second. */
  readonly perSecond: {
    readonly started: number;
    readonly accepted: number;
    readonly completed: number;
    readonly probeRuns: number;
  };
  readonly counts: Readonly<Record<string, number>>;
  /** Checks completed after their deadline, by more than the two seconds that the service grants itself. */
  readonly late: number;
  /** Probe-runs that the deadline ended. */
  readonly unanswered: number;
  readonly errors: Readonly<Record<string, number>>;
  /** Probe-runs by failure code, or by result where there is none. */
  readonly results: Readonly<Record<string, number>>;
  readonly times: {
    readonly post: TimesSummary;
    readonly dispatch: TimesSummary;
    readonly queue: TimesSummary;
    readonly completion: TimesSummary;
    readonly lag: TimesSummary;
  };
  readonly seconds: readonly SecondSummary[];
  /** CPU time of the generator itself, warming up included. */
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
