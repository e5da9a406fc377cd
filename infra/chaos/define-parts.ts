import { join } from 'node:path';

import { freePort } from '@vantage/redis-server';

import { inviteProbe } from '../trial-probes.ts';
import type { Coordinator, DeployedAgent, DeploymentOptions } from './deployment.ts';
import { GATEWAY_URL, openGatewayLine, type TlsEnd } from './gateway-line.ts';
import { openHost } from './host.ts';
import { openLink, type Link } from './link.ts';
import { definePart } from './processes.ts';
import type { Store } from './store.ts';
import type { Targets } from './targets.ts';

/** Options and services that all parts of a deployment share. */
export interface Ground {
  readonly options: DeploymentOptions;
  readonly folder: string;
  readonly store: Store;
  readonly targets: Targets;
  readonly logFile: (name: string) => string;
  /** Called at the end, the last one first. */
  readonly stoppers: (() => Promise<unknown> | void)[];
}

const MANY = '100000000';

/** @param publicUrl the coordinator's own URL if undefined */
export async function defineCoordinator(
  ground: Ground,
  name: string,
  publicUrl: string | undefined,
): Promise<Coordinator> {
  const { options, folder, logFile } = ground;
  const { redisUrl, link } = await lineToRedis(ground);
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
    // The default, half of `maxmemory`, does not work here: a fault sets `maxmemory` to one byte, and every check would
    // be removed as soon as it is completed.
    RESULTS_MAX_MIB: '512',
    ...options.coordinatorEnv,
  };
  const host = openHost(folder, name);
  const part = definePart(name, 'coordinator', { ...env, ...host?.environment }, logFile(name));
  return { part, url, link, host };
}

/** The connection of an agent to Redis or to the gateways, and the settings that make it. */
interface RouteToStore extends Pick<DeployedAgent, 'link' | 'line'> {
  readonly connection: Readonly<Record<string, string>>;
}

export function defineAgent(
  { options, folder, targets, logFile }: Ground,
  id: string,
  { link, line, connection }: RouteToStore,
): DeployedAgent {
  const env = {
    ...connection,
    LOG_LEVEL: 'info',
    TARGET_ALLOW: '127.0.0.0/8',
    DNS_SERVERS: `127.0.0.1:${targets.resolver.port}`,
    TARGET_NETWORK_LIMIT: MANY,
    SCREENSHOTS: options.screenshots === true ? 'auto' : 'off',
    ...options.agentEnv,
  };
  const host = openHost(folder, id);
  const part = definePart(id, 'probe-agent', { ...env, ...host?.environment }, logFile(id));
  return { id, part, link, line, host };
}

export async function routeToRedis(ground: Ground, id: string): Promise<RouteToStore> {
  const { redisUrl, link } = await lineToRedis(ground);
  return { link, line: undefined, connection: { PROBE_ID: id, REDIS_URL: redisUrl } };
}

interface GatewayEnds {
  /** Index of the agent, which decides the gateway that it uses first. */
  readonly index: number;
  readonly tls: TlsEnd;
  /** URLs of the coordinators. */
  readonly urls: readonly string[];
}

export async function routeToGateways(
  { store, folder, stoppers }: Ground,
  id: string,
  ends: GatewayEnds,
): Promise<RouteToStore> {
  const { caFile, ...end } = ends.tls;
  const line = await openGatewayLine(ends.urls, ends.index, end);
  stoppers.push(line.close);
  const connection = {
    VANTAGE_URL: GATEWAY_URL,
    VANTAGE_TOKEN: await inviteProbe(store.url, id, GATEWAY_URL),
    VANTAGE_STATE_FOLDER: join(folder, id),
    VANTAGE_CA_FILE: caFile,
    HTTPS_PROXY: `http://127.0.0.1:${line.port}`,
  };
  return { link: undefined, line, connection };
}

/** With several Redis servers there is no link: processes connect to them directly. */
async function lineToRedis({ store, stoppers }: Ground): Promise<{ redisUrl: string; link: Link | undefined }> {
  if (store.port === undefined) return { redisUrl: store.url, link: undefined };
  const link = await openLink(store.port);
  stoppers.push(link.close);
  return { redisUrl: `redis://127.0.0.1:${link.port}`, link };
}
