import { SCREENSHOT_JOB } from '@vantage/contract';
import type { PacketProcessStatus, ScreenshotsStatus } from '@vantage/diagnostics';
import { checkTypeNames } from '@vantage/diagnostics/contract';
import { followCounts, type Metrics } from '@vantage/telemetry';

import { browserMemoryBytes } from './browser-memory.ts';
import type { agentMetrics } from './declared.ts';

export type AgentMetrics = Metrics<typeof agentMetrics>;

/** The observed part of a connection to Redis or a gateway. */
export interface WatchedConnection {
  readonly status: string;
  readonly on: (event: 'ready', listener: () => void) => unknown;
}

/** Values sampled at each scrape. */
export interface MetricSources {
  readonly connections: Readonly<Record<string, WatchedConnection>>;
  readonly rttMs: () => number;
  /** Undefined before the agent takes jobs. */
  readonly running: () => number | undefined;
  readonly capacity: number;
  readonly packetProcess?: (() => PacketProcessStatus) | undefined;
  readonly screenshots?: (() => ScreenshotsStatus) | undefined;
}

const knownTypes: ReadonlySet<string> = new Set([...checkTypeNames, SCREENSHOT_JOB]);

/** Bounds the label's values: the job's type is untrusted. */
export function typeLabel(type: string): string {
  return knownTypes.has(type) ? type : 'unknown';
}

export function watchAgent(metrics: AgentMetrics, sources: MetricSources): void {
  const { instruments } = metrics;
  const followCrashes = followCounts(instruments.packetProcessCrashes, 'process');
  const followScreenshots = followCounts(instruments.pictures, 'outcome');
  for (const [connection, redis] of Object.entries(sources.connections)) {
    // Initialises the series, so that its first increase is visible.
    instruments.redisReconnects.inc({ connection }, 0);
    let wasReady = redis.status === 'ready';
    redis.on('ready', () => {
      if (wasReady) instruments.redisReconnects.inc({ connection });
      wasReady = true;
    });
  }
  metrics.onScrape(() => {
    for (const [connection, redis] of Object.entries(sources.connections)) {
      instruments.redisUp.set({ connection }, redis.status === 'ready' ? 1 : 0);
    }
    instruments.redisRoundTrip.set(sources.rttMs() / 1_000);
    instruments.running.set(sources.running() ?? 0);
    instruments.capacity.set(sources.capacity);
    const packets = sources.packetProcess?.();
    if (packets !== undefined) {
      instruments.packetProcessUp.set(packets.pid === null ? 0 : 1);
      followCrashes({ packets: packets.crashes });
    }
  });
  metrics.onScrape(async () => {
    const status = sources.screenshots?.();
    if (status === undefined) return;
    followScreenshots({ taken: status.taken, failed: status.failed, no_page: status.noPage });
    instruments.browsers.set(status.running);
    instruments.browserWaits.set(status.waiting);
    instruments.screenshotsOffered.set(status.selfTest === null ? 1 : 0);
    instruments.browserMemory.set(status.running === 0 ? 0 : await browserMemoryBytes(process.pid));
  });
}
