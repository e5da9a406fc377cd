import { monitorEventLoopDelay } from 'node:perf_hooks';

import type * as Prometheus from 'prom-client';

/** Interval of samples, milliseconds: longer than that of prom-client, to save CPU time. */
const SAMPLE_EVERY_MS = 100;
/**
 * Interval that in effect ends prom-client's own sampling, which cannot be turned off: the longest that a timer can
 * have.
 */
export const NEVER_MS = 2 ** 31 - 1;

const NAMES = ['', 'min_', 'max_', 'mean_', 'stddev_', 'p50_', 'p90_', 'p99_'].map(
  (statistic) => `nodejs_eventloop_lag_${statistic}seconds`,
);

/** Replaces prom-client's event-loop metrics with those of `processMetrics`, sampled less often. */
export function observeEventLoopLag(prometheus: typeof Prometheus, registry: Prometheus.Registry): void {
  for (const name of NAMES) registry.removeSingleMetric(name);
  const samples = monitorEventLoopDelay({ resolution: SAMPLE_EVERY_MS });
  samples.enable();
  const gaugeOf = (statistic: string, help: string, collect = (): void => undefined): Prometheus.Gauge =>
    new prometheus.Gauge({
      name: `nodejs_eventloop_lag_${statistic}_seconds`,
      help,
      collect,
      registers: [registry],
    });
  // A scrape collects the gauges in the order of registration, so `mean` sets `p99` before that is read.
  const mean = gaugeOf('mean', 'Mean lag of the event loop since the last scrape.', () => {
    mean.set(samples.count === 0 ? 0 : lagSeconds(samples.mean));
    p99.set(lagSeconds(samples.percentile(99)));
    samples.reset();
  });
  const p99 = gaugeOf('p99', '99th percentile of the lag of the event loop since the last scrape.');
}

/** A sample is the time between two firings of a timer, which includes its interval. */
function lagSeconds(sampleNs: number): number {
  return Math.max(0, sampleNs / 1e9 - SAMPLE_EVERY_MS / 1_000);
}
