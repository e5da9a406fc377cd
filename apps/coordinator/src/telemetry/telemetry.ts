import {
  followTotal,
  noTracing,
  openMetrics,
  openTracing,
  serveMetrics,
  tracingConfig,
  type TelemetryConfig,
  type Tracing,
} from '@vantage/telemetry';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';

import type { CheckMetrics } from '../checks/check-metrics.ts';
import type { Core } from '../core.ts';
import type { Modules } from '../modules/follow-modules.ts';
import { coordinatorMetrics } from './declared.ts';
import { checkMetrics, countRequest, watchCore, type CoordinatorMetrics } from './observe-core.ts';
import { watchModules } from './observe-modules.ts';
import { observeRequests } from './observe-requests.ts';
import { traceRequests } from './trace-requests.ts';

/** Metrics and traces of a coordinator, as far as they are enabled. */
export interface Telemetry {
  /** Run before any other handler. */
  readonly handlers: readonly RequestHandler[];
  readonly tracing: Tracing;
  /** Undefined if metrics are disabled. */
  readonly metrics: CheckMetrics | undefined;
  /** Called with the delay of each started monitor tick, milliseconds. */
  readonly monitorStarted: (lateMs: number) => void;
  /** Starts to serve the metrics of this core, if they are enabled. */
  readonly watch: (core: Core, modules: Modules, linesDropped: () => number) => Promise<void>;
  /** Stops the metrics server, and exports the spans that are left. Never rejects. */
  readonly close: () => Promise<void>;
}

export async function openTelemetry(config: TelemetryConfig, version: string, log: Logger): Promise<Telemetry> {
  const metrics = config.metricsPort === undefined ? undefined : await openCoordinatorMetrics(version, log);
  const traced = tracingConfig(config, { name: 'vantage-coordinator', version });
  const tracing = traced === undefined ? noTracing : await openTracing(traced);
  if (traced !== undefined) log.info({ url: traced.url }, 'tracing enabled');
  const requests = observeRequests((seen) => {
    if (metrics !== undefined) countRequest(metrics, seen);
  });
  const closers: (() => Promise<void> | void)[] = [];

  return {
    handlers: [
      ...(metrics === undefined ? [] : [requests.handler]),
      ...(traced === undefined ? [] : [traceRequests(tracing)]),
    ],
    tracing,
    metrics: metrics && checkMetrics(metrics),
    monitorStarted: (lateMs) => metrics?.instruments.tickDelay.observe(lateMs / 1_000),
    watch: async (core, modules, linesDropped) => {
      if (metrics === undefined) return;
      closers.push(watchCore(metrics, core, requests));
      watchModules(metrics, modules);
      metrics.onScrape(followTotal(metrics.instruments.linesDropped, linesDropped));
      const server = await serveMetrics({
        host: config.metricsHost,
        port: config.metricsPort ?? 0,
        metrics,
        missing: () => (core.rateLimitRedis.status === 'ready' ? [] : ['Redis does not answer.']),
      });
      closers.push(server.close);
      log.info({ host: config.metricsHost, metricsPort: server.port }, 'metrics server listening');
    },
    close: async () => {
      for (const close of closers.splice(0)) await close();
      await tracing.close();
    },
  };
}

async function openCoordinatorMetrics(version: string, log: Logger): Promise<CoordinatorMetrics> {
  const metrics = await openMetrics(coordinatorMetrics, (error) => log.warn({ err: error }, 'metric callback threw'));
  metrics.instruments.build.set({ version }, 1);
  return metrics;
}
