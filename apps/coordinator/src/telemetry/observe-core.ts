import { followCounts, type Metrics } from '@vantage/telemetry';

import type { CheckMetrics } from '../checks/check-metrics.ts';
import type { Core } from '../core.ts';
import type { KnownProbe } from '../probes/registry/probe-status.ts';
import { statusOf } from '../probes/registry/probe-status.ts';
import { eventCounts } from './core-events.ts';
import type { coordinatorMetrics } from './declared.ts';
import type { RequestObserver, SeenRequest } from './observe-requests.ts';

export type CoordinatorMetrics = Metrics<typeof coordinatorMetrics>;

const PING_EVERY_MS = 1_000;
const statusValues = { healthy: 1, degraded: 0.5, offline: 0 } as const;

export function countRequest({ instruments }: CoordinatorMetrics, seen: SeenRequest): void {
  const { method, route, status, held, isStream, durationMs, problem, limit } = seen;
  if (!isStream) instruments.requests.observe({ method, route, status, held: String(held) }, durationMs / 1_000);
  if (problem !== undefined) instruments.problems.inc({ type: problem });
  if (limit !== undefined) instruments.limited.inc({ limit });
}

/** Counts checks and results as they occur. */
export function checkMetrics({ instruments }: CoordinatorMetrics): CheckMetrics {
  return {
    created: (type, probes, tookMs) => {
      instruments.creation.observe(tookMs / 1_000);
      instruments.checks.inc({ type });
      instruments.runs.inc({ type }, probes);
    },
    committed: ({ type, probe, result }, lagMs) => {
      instruments.results.inc({ type, result });
      instruments.resultsByProbe.inc({ probe, result });
      instruments.resultLag.observe(Math.max(0, lagMs) / 1_000);
    },
  };
}

/**
 * Sets the gauges and the counters of events at each scrape, and measures the round trip to Redis once a second while
 * it is connected.
 *
 * @returns a function that ends the measurement
 */
export function watchCore(metrics: CoordinatorMetrics, core: Core, requests: RequestObserver): () => void {
  const { instruments } = metrics;
  const redis = core.rateLimitRedis;
  const followEvents = followCounts(instruments.events, 'event');
  metrics.onScrape(async () => {
    const { requests: inFlight, streams } = requests.open();
    instruments.inFlight.set(inFlight);
    instruments.streams.set(streams);
    instruments.redisUp.set(redis.status === 'ready' ? 1 : 0);
    showBudget(metrics, core.resultBudget());
    instruments.monitorsFileValid.set(core.monitors.fileFault() === undefined ? 1 : 0);
    followEvents(eventCounts(core.counters));
    showProbes(metrics, await core.knownProbes().catch(() => undefined));
  });
  const pinging = setInterval(() => {
    if (redis.status !== 'ready') return;
    const sentAt = performance.now();
    redis.ping().then(
      () => instruments.redisRoundTrip.observe((performance.now() - sentAt) / 1_000),
      // Failures are not measured.
      () => undefined,
    );
  }, PING_EVERY_MS);
  return () => clearInterval(pinging);
}

function showBudget({ instruments }: CoordinatorMetrics, status: ReturnType<Core['resultBudget']>): void {
  instruments.resultBytes.set({ of: 'all' }, status.bytes);
  instruments.resultBytes.set({ of: 'bulkiest_client' }, status.bulkiestClientBytes);
  instruments.resultBytesMax.set({ of: 'all' }, status.maxBytes);
  instruments.resultBytesMax.set({ of: 'bulkiest_client' }, status.maxClientBytes);
}

/**
 * Sets the gauges of the probes; without `known`, because they cannot be read, none has a series: a count of 0 would
 * mean that there are no probes.
 */
export function showProbes({ instruments }: CoordinatorMetrics, known: readonly KnownProbe[] | undefined): void {
  // Removes the series of deleted probes, too.
  for (const gauge of [instruments.probes, instruments.probeUp, instruments.probeRunning]) gauge.reset();
  if (known === undefined) return;
  const counts = { healthy: 0, degraded: 0, offline: 0 };
  for (const probe of known) {
    const { status } = statusOf(probe);
    counts[status] += 1;
    instruments.probeUp.set({ probe: probe.record.id }, statusValues[status]);
    instruments.probeRunning.set({ probe: probe.record.id }, probe.heartbeat?.load.running ?? 0);
  }
  for (const [status, count] of Object.entries(counts)) instruments.probes.set({ status }, count);
}
