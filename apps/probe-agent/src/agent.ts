import { createRequire } from 'node:module';

import {
  createAgentLoop,
  createGatewayLoop,
  type AgentIdentity,
  type AgentLoop,
  type JobRunner,
  type RunnerLink,
  type Work,
} from '@vantage/agent-loop';
import { checkOfScreenshotJob } from '@vantage/contract';
import type { Logger } from 'pino';

import { abilityOf, type Ability } from './runtime/capabilities.ts';
import type { Config } from './config/config.ts';
import { createJobHandler } from './jobs/handle-job.ts';
import { createScreenshotHandler } from './jobs/handle-screenshot.ts';
import type { ProbeRuntime, OpenRuntime } from './runtime/runtime.ts';
import { createSchemas } from './jobs/schemas.ts';
import { createProbeContext } from './runtime/probe-context.ts';
import { releaseMemoryAfterJobs } from './release-memory.ts';
import { watchFolder } from './state-folder.ts';
import { noTelemetry, type Telemetry } from './telemetry/telemetry.ts';
import { wrongClock } from './wrong-clock.ts';

export type ProbeAgent = AgentLoop;

export interface AgentOptions {
  /** Metrics and traces; none by default. */
  readonly telemetry?: Telemetry;
  /** Called when the agent cannot take jobs until its process is replaced. */
  readonly onHopeless?: () => void;
  /** Required by an agent that connects to a gateway. */
  readonly identity?: AgentIdentity | undefined;
}

/** Creates the agent of a probe. `start` rejects if its runtime cannot be opened. */
export function createAgent(
  config: Config,
  log: Logger,
  openRuntime: OpenRuntime,
  { telemetry = noTelemetry, onHopeless, identity }: AgentOptions = {},
): ProbeAgent {
  const { transport } = config;
  const options = {
    concurrency: config.concurrency,
    drainMs: config.drainSeconds * 1_000,
    open: async () => measuring({ config, runtime: await openRuntime(config, log), telemetry, log }),
    traceparentOf: telemetry.traceparentOf,
    onHopeless,
    log,
  };
  if (transport.kind === 'redis') {
    const { probeId, url, certificates } = transport;
    return createAgentLoop({ ...options, probeId, redisUrl: url, redisCertificates: certificates });
  }
  if (identity === undefined) throw new Error('an agent that connects to a gateway needs an identity');
  return createGatewayLoop({
    ...options,
    identity,
    url: transport.url,
    certificates: config.vantageCertificates,
    release: ownVersion(),
    refusedMs: config.refusedRetrySeconds * 1_000,
    proxy: { url: config.httpsProxy, except: config.noProxy },
  });
}

interface MeasurementDependencies {
  readonly config: Config;
  readonly runtime: ProbeRuntime;
  readonly telemetry: Telemetry;
  readonly log: Logger;
}

function measuring({ config, runtime, telemetry, log }: MeasurementDependencies): JobRunner {
  const version = ownVersion();
  const ability = (): Ability =>
    abilityOf(config.checkTypes, runtime.connectivity(), runtime.rawSockets(), runtime.screenshots);
  // Only an agent at a gateway needs the state folder, for each new connection.
  const folderFaults = config.transport.kind === 'redis' ? () => [] : watchFolder(config.stateFolder);
  const describe = ({ clock }: RunnerLink): ReturnType<Work['describe']> => {
    const { capabilities, degraded } = ability();
    const ofMachine = [...wrongClock(clock.now(), Date.now()), ...folderFaults()];
    return { version, capabilities, degraded: [...degraded, ...ofMachine] };
  };
  return {
    watch: (watched) =>
      telemetry.watch({ ...watched, packetProcess: runtime.packetProcess, screenshots: runtime.screenshots.status }),
    noteRedis: runtime.noteRedis,
    prepare: (link) => ({
      ...runJobs({ config, runtime, telemetry, log }, version, link),
      describe: () => describe(link),
    }),
    started: (instance) => {
      // Only now, because the self-test takes seconds and jobs do not depend on it.
      runtime.screenshots.start();
      log.info({ version, instance, ...ability().capabilities }, 'agent started');
    },
    close: runtime.close,
  };
}

function runJobs(
  { config, runtime, telemetry, log }: MeasurementDependencies,
  version: string,
  { clock, outlet, onAbandoned }: RunnerLink,
): Omit<Work, 'describe'> {
  const schemas = createSchemas();
  const probeContext = createProbeContext(config, runtime, version, telemetry.wrapPackets);
  const handle = createJobHandler({
    loadDiagnostic: runtime.loadDiagnostic,
    checkTarget: runtime.checkTarget,
    probeContext,
    offered: new Set(config.checkTypes),
    clock,
    schemas,
    outlet,
    onAbandoned,
    onResult: telemetry.onResult,
    log,
  });
  const handleScreenshot = createScreenshotHandler({
    offer: runtime.screenshots,
    checkTarget: runtime.checkTarget,
    clock,
    schemas,
    outlet,
    log,
    userAgent: probeContext(1).attribution.userAgent,
  });
  const isExempt = (id: string): boolean => checkOfScreenshotJob(id) !== undefined;
  const counted = releaseMemoryAfterJobs(runtime.releaseMemory);
  return {
    run: (job, id, interrupted) =>
      counted(() =>
        telemetry.around(job, clock.now(), () =>
          isExempt(id) ? handleScreenshot(id, job.data, interrupted) : handle(id, job.data, interrupted),
        ),
      ),
    isExempt,
    isCheckId: schemas.isCheckId,
  };
}

export function ownVersion(): string {
  const require = createRequire(import.meta.url);
  return (require('@vantage/probe-agent/package.json') as { readonly version: string }).version;
}
