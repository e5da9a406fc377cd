import {
  followTotal,
  openMetrics,
  openTracing,
  serveMetrics,
  tracingConfig,
  type TelemetryConfig,
  type Tracing,
} from '@vantage/telemetry';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';

import type { Checks } from '../checks/checks.ts';
import type { FinalResult } from '../checks/ingest/committed-result.ts';
import type { JobQueues } from '../checks/store/job-queues.ts';
import type { StartCheck } from '../checks/create/enqueue-check.ts';
import type { Core } from '../core.ts';
import { coordinatorMetrics } from './declared.ts';
import { countCreation, countFinal, countRequest, watchCore, type CoordinatorMetrics } from './observe-core.ts';
import { observeRequests } from './observe-requests.ts';
import { traceCreation, traceFinal, traceQueues, traceRequests, traceStart } from './trace-checks.ts';

/** What the parts of the coordinator are wrapped in. Where nothing is counted or traced, all of it is absent. */
export interface Telemetry {
  /** Asked before any other handler. */
  readonly handlers: readonly RequestHandler[];
  readonly wrapCreation: (create: Checks['create']) => Checks['create'];
  readonly wrapQueues: (queues: JobQueues) => JobQueues;
  readonly wrapStart: (start: StartCheck) => StartCheck;
  readonly onFinal: ((final: FinalResult, lagMs: number) => void) | undefined;
  /** Serves the metrics, once there is something to look at. */
  readonly watch: (core: Core, linesDropped: () => number) => Promise<void>;
  /** Never rejects. */
  readonly close: () => Promise<void>;
}

export async function openTelemetry(config: TelemetryConfig, version: string, log: Logger): Promise<Telemetry> {
  const metrics = config.metricsPort === undefined ? undefined : await openCoordinatorMetrics(version, log);
  const traced = tracingConfig(config, { name: 'vantage-coordinator', version });
  const tracing = traced === undefined ? undefined : await openTracing(traced);
  if (traced !== undefined) log.info({ url: traced.url }, 'checks are traced');
  const requests = observeRequests((seen) => {
    if (metrics !== undefined) countRequest(metrics, seen);
  });
  const closers: (() => Promise<void> | void)[] = [];

  return {
    handlers: [
      ...(metrics === undefined ? [] : [requests.handler]),
      ...(tracing === undefined ? [] : [traceRequests(tracing)]),
    ],
    wrapCreation: (create) => {
      const counted = metrics === undefined ? create : countCreation(create, metrics);
      return tracing === undefined ? counted : traceCreation(counted, tracing);
    },
    wrapQueues: (queues) => (tracing === undefined ? queues : traceQueues(queues, tracing)),
    wrapStart: (start) => (tracing === undefined ? start : traceStart(start, tracing)),
    onFinal: onFinal(metrics, tracing),
    watch: async (core, linesDropped) => {
      if (metrics === undefined) return;
      closers.push(watchCore(metrics, core, requests));
      metrics.onScrape(followTotal(metrics.instruments.linesDropped, linesDropped));
      const server = await serveMetrics({
        ...{ host: config.metricsHost, port: config.metricsPort ?? 0, metrics },
        missing: () => (core.rateLimitRedis.status === 'ready' ? [] : ['Redis does not answer.']),
      });
      closers.push(server.close);
      log.info({ host: config.metricsHost, metricsPort: server.port }, 'metrics are served');
    },
    close: async () => {
      for (const close of closers.splice(0)) await close();
      await tracing?.close();
    },
  };
}

async function openCoordinatorMetrics(version: string, log: Logger): Promise<CoordinatorMetrics> {
  const metrics = await openMetrics(coordinatorMetrics, (error) => log.warn({ err: error }, 'a metric cannot be read'));
  metrics.instruments.build.set({ version }, 1);
  return metrics;
}

function onFinal(metrics: CoordinatorMetrics | undefined, tracing: Tracing | undefined): Telemetry['onFinal'] {
  if (metrics === undefined && tracing === undefined) return undefined;
  return (final, lagMs) => {
    if (metrics !== undefined) countFinal(metrics, final, lagMs);
    if (tracing !== undefined) traceFinal(final, tracing);
  };
}
