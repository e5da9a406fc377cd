import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Redis } from 'ioredis';

import { recordProbes, untilProbesAreUp } from '../trial-probes.ts';
import { defineAgent, defineCoordinator, routeToGateways, routeToRedis, type Ground } from './define-parts.ts';
import { GATEWAY_URL, makeTlsEnd, type GatewayLine } from './gateway-line.ts';
import type { Host } from './host.ts';
import type { Link } from './link.ts';
import type { Part } from './processes.ts';
import { mountSmallDisk, type SmallDisk } from '@vantage/test-support/programs/small-disk';
import { keepStore, type Store, type StoreKind } from './store.ts';
import { openTargets, type Targets } from './targets.ts';

/** The service with two coordinators, as in production. */
export interface Deployment {
  readonly store: Store;
  readonly coordinators: readonly Coordinator[];
  readonly agents: readonly DeployedAgent[];
  readonly targets: Targets;
  readonly folder: string;
  /** The file system that the logs of coordinators and agents are on; undefined without root. */
  readonly logDisk: SmallDisk | undefined;
  readonly stop: () => Promise<void>;
}

export interface Coordinator {
  readonly part: Part;
  readonly url: string;
  readonly link: Link | undefined;
  readonly host: Host | undefined;
}

export interface DeployedAgent {
  readonly id: string;
  readonly part: Part;
  /** Connection to Redis; undefined for an agent at a gateway, and with several Redis servers. */
  readonly link: Link | undefined;
  /** Connection to the gateways; undefined for an agent that connects to Redis. */
  readonly line: GatewayLine | undefined;
  readonly host: Host | undefined;
}

export interface DeploymentOptions {
  /** Agents that connect to Redis. */
  readonly agents: number;
  /** Agents that connect to the gateways of the coordinators. */
  readonly gatewayAgents?: number;
  readonly store: StoreKind;
  /** Additional settings of the coordinators. */
  readonly coordinatorEnv?: Readonly<Record<string, string>>;
  readonly agentEnv?: Readonly<Record<string, string>>;
  /**
   * True to let agents take screenshots: each looks for a browser and tests it at each start, which costs more than all
   * other processes.
   */
  readonly screenshots?: boolean;
  /** Folder to which the logs are copied at the end. */
  readonly keepLogsIn?: string | undefined;
}

const LOG_DISK_MIB = 256;

export async function startDeployment(options: DeploymentOptions): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-chaos-'));
  const stoppers: Ground['stoppers'] = [];
  const stop = async (): Promise<void> => {
    for (const step of stoppers.splice(0).toReversed()) await step();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const targets = await openTargets();
    stoppers.push(targets.close);
    const store = await keepStore(options.store, folder);
    stoppers.push(store.stop);
    const { agents: redisAgents, gatewayAgents = 0 } = options;
    const ids = Array.from({ length: redisAgents + gatewayAgents }, (_, index) => `chaos-${index + 1}`);
    await recordProbes(store.url, ids.slice(0, redisAgents));

    const logs = join(folder, 'logs');
    mkdirSync(logs);
    const logDisk = await mountSmallDisk(logs, LOG_DISK_MIB);
    if (logDisk !== undefined) stoppers.push(logDisk.unmount);
    const logFolder = logDisk?.path ?? logs;
    const { keepLogsIn } = options;
    if (keepLogsIn !== undefined) {
      const keepLogs = (): void => {
        process.removeListener('exit', keepLogs);
        if (existsSync(logFolder)) cpSync(logFolder, keepLogsIn, { recursive: true });
      };
      stoppers.push(keepLogs);
      // Runs before the exit listener of `endWithChildren`, which removes temporary files.
      process.prependListener('exit', keepLogs);
    }

    const logFile = (name: string): string => join(logFolder, `${name}.log`);
    const ground: Ground = { options, folder, store, targets, stoppers, logFile };
    const publicUrl = gatewayAgents > 0 ? GATEWAY_URL : undefined;
    const coordinators: Coordinator[] = [];
    for (const name of ['coordinator-1', 'coordinator-2']) {
      coordinators.push(await defineCoordinator(ground, name, publicUrl));
    }
    const urls = coordinators.map(({ url }) => url);
    const tls = gatewayAgents > 0 ? await makeTlsEnd(join(folder, 'tls')) : undefined;
    const agents: DeployedAgent[] = [];
    for (const [index, id] of ids.entries()) {
      const way =
        tls !== undefined && index >= redisAgents
          ? await routeToGateways(ground, id, { index, tls, urls })
          : await routeToRedis(ground, id);
      agents.push(defineAgent(ground, id, way));
    }
    for (const { part } of [...coordinators, ...agents]) {
      part.start();
      stoppers.push(part.kill);
    }
    for (const url of urls) await untilProbesAreUp(url, ids.length);
    return { store, coordinators, agents, targets, folder, logDisk, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * A connection of the tests that no fault of a link affects. A command fails at once if Redis is unreachable, and after
 * 30 s without a reply.
 */
export function openDirect(port: number): Redis {
  const redis = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: 0, commandTimeout: 30_000, retryStrategy: null });
  redis.on('error', () => undefined);
  return redis;
}
