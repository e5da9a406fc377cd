import { readFileSync } from 'node:fs';

import { createAgentLoop, type AgentLoop, type JobRunner, type Link, type Work } from '@vantage/agent-loop';
import { checkOfScreenshotJob } from '@vantage/contract';
import type { Logger } from 'pino';

import { abilityOf } from './capabilities.ts';
import type { Config } from './config.ts';
import { createJobHandler } from './handle-job.ts';
import { createScreenshotHandler } from './handle-screenshot.ts';
import type { AgentParts, OpenParts } from './parts.ts';
import { createSchemas } from './schemas.ts';
import { lend } from './surroundings.ts';
import { noTelemetry, type Telemetry } from './telemetry/telemetry.ts';

export type Agent = AgentLoop;

/**
 * Creates the agent of a probe. `start` rejects if its runtime cannot be opened.
 *
 * @param telemetry observes only
 * @param onHopeless called when the agent cannot take jobs until its process is replaced
 */
export function createAgent(
  config: Config,
  log: Logger,
  openParts: OpenParts,
  telemetry: Telemetry = noTelemetry,
  onHopeless?: () => void,
): Agent {
  return createAgentLoop({
    probeId: config.probeId,
    redisUrl: config.redisUrl,
    redisCertificates: config.redisCertificates ?? config.redisCa,
    concurrency: config.concurrency,
    drainMs: config.drainSeconds * 1_000,
    open: async () => measuring({ config, parts: await openParts(config, log), telemetry, log }),
    placeOf: telemetry.placeOf,
    onHopeless,
    log,
  });
}

interface MeasuringParts {
  readonly config: Config;
  readonly parts: AgentParts;
  readonly telemetry: Telemetry;
  readonly log: Logger;
}

function measuring({ config, parts, telemetry, log }: MeasuringParts): JobRunner {
  const version = ownVersion();
  const describe: Work['describe'] = () => ({
    version,
    ...abilityOf(config.checkTypes, parts.connectivity(), parts.rawSockets(), parts.screenshots),
  });
  return {
    watch: (watched) =>
      telemetry.watch({ ...watched, packetProcess: parts.packetProcess, screenshots: parts.screenshots.status }),
    noteRedis: parts.noteRedis,
    prepare: (link) => ({ ...runJobs({ config, parts, telemetry, log }, version, link), describe }),
    started: (instance) => {
      // Last, because the self-test takes seconds and jobs do not depend on it.
      parts.screenshots.start();
      log.info({ version, instance, ...describe().capabilities }, 'agent started');
    },
    close: parts.close,
  };
}

function runJobs(
  { config, parts, telemetry, log }: MeasuringParts,
  version: string,
  { clock, outlet }: Link,
): Omit<Work, 'describe'> {
  const schemas = createSchemas();
  const lent = lend(config, parts, version, telemetry.wrapPackets);
  const handle = createJobHandler({
    loadDiagnostic: parts.loadDiagnostic,
    judge: parts.judge,
    surroundings: lent,
    offered: new Set(config.checkTypes),
    clock,
    schemas,
    outlet,
    onResult: telemetry.onResult,
    log,
  });
  const handleScreenshot = createScreenshotHandler({
    offer: parts.screenshots,
    judge: parts.judge,
    clock,
    schemas,
    outlet,
    log,
    userAgent: lent(1).attribution.userAgent,
  });
  const isAside = (id: string): boolean => checkOfScreenshotJob(id) !== undefined;
  return {
    run: (job, id, interrupted) =>
      telemetry.around(job, clock.now(), () =>
        isAside(id) ? handleScreenshot(id, job.data, interrupted) : handle(id, job.data, interrupted),
      ),
    isAside,
    isCheckId: schemas.isCheckId,
  };
}

export function ownVersion(): string {
  const file = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(file) as { readonly version: string }).version;
}
