import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePort } from '@vantage/redis-server';
import { Redis } from 'ioredis';

import { inviteProbe, recordProbes, untilProbesAreUp } from '../trial-probes.ts';
import { GATEWAY_URL, makeTlsEnd, openGatewayLine, type GatewayLine, type TlsEnd } from './gateway-line.ts';
import { openHost, type Host } from './host.ts';
import { openLink, type Link } from './link.ts';
import { definePart, type Part } from './processes.ts';
import { mountSmallDisk, type SmallDisk } from '@vantage/test-support/programs/small-disk';
import { keepStore, type Store, type StoreKind } from './store.ts';
import { openTargets, type Targets } from './targets.ts';

/** The service with two coordinators, as production has it, with a spoilable line from each process to Redis or the gateways. */
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
  /** True for a browser on each agent, which tests it at each start; this costs more than all other processes. */
  readonly screenshots?: boolean;
  /** Folder to which the logs are copied at the end. */
  readonly keepLogsIn?: string | undefined;
}

const MANY = '100000000';
const LOG_DISK_MIB = 256;

export async function startDeployment(options: DeploymentOptions): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-chaos-'));
  const stoppers: (() => Promise<unknown> | void)[] = [];
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
    const logFile = (name: string): string => join(logDisk?.path ?? logs, `${name}.log`);
    const { keepLogsIn } = options;
    if (keepLogsIn !== undefined) {
      stoppers.push(() => {
        const from = logDisk?.path ?? logs;
        if (existsSync(from)) cpSync(from, keepLogsIn, { recursive: true });
      });
    }

    const lineFor = async (): Promise<{ readonly redisUrl: string; readonly link: Link | undefined }> => {
      if (store.port === undefined) return { redisUrl: store.url, link: undefined };
      const link = await openLink(store.port);
      stoppers.push(link.close);
      return { redisUrl: `redis://127.0.0.1:${link.port}`, link };
    };
    const publicUrl = gatewayAgents > 0 ? GATEWAY_URL : undefined;
    const coordinators: Coordinator[] = [];
    for (const name of ['coordinator-1', 'coordinator-2']) {
      const { redisUrl, link } = await lineFor();
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const env = {
        HOST: '127.0.0.1',
        PORT: String(port),
        PUBLIC_URL: publicUrl ?? url,
        REDIS_URL: redisUrl,
        LOG_LEVEL: 'info',
        RATE_LIMIT_CHECK: MANY,
        RATE_LIMIT_RESULTS: MANY,
        RATE_LIMIT_PROBES: MANY,
        RATE_LIMIT_TARGET: MANY,
        RATE_LIMIT_SUMMARY: MANY,
        RATE_LIMIT_EVENTS: MANY,
        EVENT_STREAMS_PER_CLIENT: '5000',
        RATE_LIMIT_TARGET_PORTS: MANY,
        RATE_LIMIT_CLIENT_TARGETS: MANY,
        TARGET_ALLOW: '127.0.0.0/8',
        // Not half of `maxmemory`, which a fault sets to one byte: every check would be removed as soon as it is
        // completed.
        RESULTS_MAX_MIB: '512',
        ...options.coordinatorEnv,
      };
      const host = openHost(folder, name);
      const part = definePart(name, 'coordinator', { ...env, ...host?.environment }, logFile(name));
      coordinators.push({ part, url, link, host });
    }
    const tls = gatewayAgents > 0 ? await makeTlsEnd(join(folder, 'tls')) : undefined;
    const toRedis = async (id: string) => {
      const { redisUrl, link } = await lineFor();
      return { link, line: undefined, connection: { PROBE_ID: id, REDIS_URL: redisUrl } };
    };
    const toGateways = async (id: string, index: number, { caFile, ...end }: TlsEnd) => {
      const line = await openGatewayLine(
        coordinators.map(({ url }) => url),
        index,
        end,
      );
      stoppers.push(line.close);
      const connection = {
        VANTAGE_URL: GATEWAY_URL,
        VANTAGE_TOKEN: await inviteProbe(store.url, id, GATEWAY_URL),
        VANTAGE_STATE_FOLDER: join(folder, id),
        VANTAGE_CA_FILE: caFile,
        HTTPS_PROXY: `http://127.0.0.1:${line.port}`,
      };
      return { link: undefined, line, connection };
    };
    const agents: DeployedAgent[] = [];
    for (const [index, id] of ids.entries()) {
      const { link, line, connection } =
        tls !== undefined && index >= redisAgents ? await toGateways(id, index, tls) : await toRedis(id);
      const env = {
        ...connection,
        LOG_LEVEL: 'info',
        TARGET_ALLOW: '127.0.0.0/8',
        TARGET_NETWORK_LIMIT: MANY,
        SCREENSHOTS: options.screenshots === true ? 'auto' : 'off',
        ...options.agentEnv,
      };
      const host = openHost(folder, id);
      const part = definePart(id, 'probe-agent', { ...env, ...host?.environment }, logFile(id));
      agents.push({ id, part, link, line, host });
    }
    for (const { part } of [...coordinators, ...agents]) {
      part.start();
      stoppers.push(part.kill);
    }
    for (const { url } of coordinators) await untilProbesAreUp(url, ids.length);
    return { store, coordinators, agents, targets, folder, logDisk, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * A connection of the tests that no fault of a link affects. It fails at once if Redis is unreachable, and late if it
 * is slow.
 */
export function openDirect(port: number): Redis {
  const redis = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: 0, commandTimeout: 30_000, retryStrategy: null });
  redis.on('error', () => undefined);
  return redis;
}
