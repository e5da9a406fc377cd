import type { FinalOutcome } from '@vantage/contract';
import type { PacketSockets } from '@vantage/diagnostics';
import { followTotal, openMetrics, openTracing, tracingConfig, type OpenLog } from '@vantage/telemetry';

import type { Config } from '../config/config.ts';
import { typeLabel, watchAgent, type AgentMetrics, type MetricSources } from './agent-metrics.ts';
import { countPackets } from './count-packets.ts';
import { agentMetrics } from './declared.ts';
import { listen } from './listen.ts';
import { traceJobs, type TakenJob } from './trace-jobs.ts';

/** Instrumentation of the agent, without effect if metrics and traces are off. */
export interface Telemetry {
  /**
   * Runs a job that was just taken.
   *
   * @param nowMs Redis clock, milliseconds since the epoch
   */
  readonly around: (job: TakenJob, nowMs: number, run: () => Promise<void>) => Promise<void>;
  /** Called with each result of a job. */
  readonly onResult: (type: string, result: FinalOutcome) => void;
  readonly wrapPackets: (sockets: PacketSockets) => PacketSockets;
  /** Trace context of a check's run; undefined if it has none. */
  readonly traceparentOf: (checkId: string) => string | undefined;
  readonly watch: (watched: MetricSources) => void;
  /** Never rejects. */
  readonly close: () => Promise<void>;
}

export const noTelemetry: Telemetry = {
  around: (_job, _nowMs, run) => run(),
  onResult: () => undefined,
  wrapPackets: (sockets) => sockets,
  traceparentOf: () => undefined,
  watch: () => undefined,
  close: async () => undefined,
};

/** @throws the operating system's error if the metrics host is unavailable */
export async function openTelemetry(
  config: Config,
  probeId: string,
  version: string,
  { log, dropped }: OpenLog,
): Promise<Telemetry> {
  const traced = tracingConfig(config, { name: 'vantage-probe-agent', version, instance: probeId });
  const tracing = traced === undefined ? undefined : await openTracing(traced);
  const traces = tracing === undefined ? undefined : traceJobs(tracing);
  if (traced !== undefined) log.info({ url: traced.url }, 'tracing enabled');
  if (config.metricsPort === undefined) {
    if (traces === undefined) return noTelemetry;
    return {
      ...noTelemetry,
      around: (job, _nowMs, run) => traces.around(job, run),
      traceparentOf: traces.traceparentOf,
      close: () => tracing?.close() ?? Promise.resolve(),
    };
  }

  const metrics = await openMetrics(agentMetrics, (error) => log.warn({ err: error }, 'metric callback threw'));
  const { instruments } = metrics;
  instruments.build.set({ probe: probeId, version }, 1);
  metrics.onScrape(followTotal(instruments.linesDropped, dropped));
  let watched: MetricSources | undefined;
  const server = await listen(config, { metrics, missing: () => missing(watched) }, log);

  return {
    around: (job, nowMs, run) => {
      instruments.queueWait.observe(Math.max(0, nowMs - job.timestamp) / 1_000);
      const timed = (): Promise<void> => timeJob(metrics, job, run);
      return traces === undefined ? timed() : traces.around(job, timed);
    },
    onResult: (type, result) => instruments.jobs.inc({ type: typeLabel(type), result }),
    wrapPackets: (sockets) => countPackets(sockets, metrics),
    traceparentOf: (checkId) => traces?.traceparentOf(checkId),
    watch: (given) => {
      watched = given;
      watchAgent(metrics, given);
    },
    close: async () => {
      await server.close();
      await tracing?.close();
    },
  };
}

async function timeJob({ instruments }: AgentMetrics, job: TakenJob, run: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  try {
    await run();
  } finally {
    instruments.duration.observe({ type: typeLabel(job.name) }, (performance.now() - startedAt) / 1_000);
  }
}

/** Why the agent takes no jobs, in sentences. */
export function missing(watched: Pick<MetricSources, 'connections' | 'running'> | undefined): readonly string[] {
  if (watched === undefined) return ['The agent starts.'];
  const away = Object.entries(watched.connections).filter(([, { status }]) => status !== 'ready');
  if (away.some(([name]) => name === 'gateway')) return ['There is no connection to a gateway.'];
  // A suspended agent reaches Redis, which refuses its login.
  if (away.length > 0) return ['There is no connection to Redis: it is away, or refuses the login of this agent.'];
  return watched.running() === undefined ? ['The agent takes no jobs yet.'] : [];
}
