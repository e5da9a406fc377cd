import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from '@vantage/redis-server';
import { packagesMissing } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';
import { afterAll, beforeAll, describe, expect, jest } from '@jest/globals';

import {
  packages,
  startHaproxy,
  startNginx,
  startSquid,
  startTinyproxy,
  type ForeignProxy,
  type Login,
} from '../test/foreign-proxies.ts';
import { startGatewayService, type Coordinator, type GatewayService } from '../test/gateway-service.ts';

jest.setTimeout(600_000);

const missing = await packagesMissing(packages.nginx, packages.haproxy, packages.squid, packages.tinyproxy);
const itWithProxies = itNeeding(missing, process.env['CI']);

/** A password of tinyproxy may have letters and digits only. */
const logins = {
  'squid-1': { user: 'agent', password: 'p@ss:word' },
  'tiny-1': { user: 'agent', password: 'password' },
} as const;
const probes = ['direct-1', 'squid-1', 'tiny-1'] as const;
const many = '1000000';
const manyRequests = {
  RATE_LIMIT_CHECK: many,
  RATE_LIMIT_TARGET: many,
  RATE_LIMIT_TARGET_PORTS: many,
  RATE_LIMIT_CLIENT_TARGETS: many,
};
/** Interval between two checks. */
const EVERY_MS = 300;
/** Number of checks before the first gateway stops, between the two stops, and after the last agent is back. */
const SOME = 5;

/** A target that answers after a moment. */
let target: Server;

beforeAll(async () => {
  target = createServer((_request, response) => setTimeout(() => response.end('hello'), 100)).listen(0, '127.0.0.1');
  await once(target, 'listening');
});

afterAll(() => {
  target.closeAllConnections();
  target.close();
});

/** Polls until a condition holds; the test's own time limit bounds it. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(50);
}

function proxyUrl({ user, password }: Login, { port }: ForeignProxy): string {
  return `http://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}`;
}

async function startAgents(on: GatewayService, proxies: Readonly<Record<keyof typeof logins, ForeignProxy>>) {
  const agents = await Promise.all(
    probes.map(async (probe) => {
      const through = probe === 'direct-1' ? {} : { HTTPS_PROXY: proxyUrl(logins[probe], proxies[probe]) };
      const state = { VANTAGE_STATE_FOLDER: join(on.folder, `state-${probe}`), LOG_LEVEL: 'info' };
      return on.startAgent({ VANTAGE_TOKEN: await on.invite(probe), ...state, ...through });
    }),
  );
  await until(async () => {
    const ended = agents.find(({ process: { exitCode } }) => exitCode !== null);
    if (ended !== undefined) throw new Error(`an agent ended:\n${ended.log()}\n${ended.errors()}`);
    const all = await on.probes();
    return probes.every((probe) => ['healthy', 'degraded'].includes(all[probe]?.status ?? ''));
  });
  return agents;
}

/** True if the coordinator has read the probes from Redis. */
async function isReady({ port }: Coordinator): Promise<boolean> {
  return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
}

/** Starts a check; undefined if it is refused, as may happen on a busy machine. An accepted one must not be lost. */
async function startIfTaken(on: GatewayService, body: Readonly<Record<string, unknown>>): Promise<string | undefined> {
  try {
    return await on.startCheck(body);
  } catch (error) {
    if (String(error).includes('Nothing was accepted')) return undefined;
    throw error;
  }
}

const connectsOf = (log: string): number => log.split('"connected to the gateway"').length - 1;

async function stop({ process: child }: Coordinator): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

interface Run {
  /** Checks that were accepted. */
  readonly accepted: number;
  /** Results other than `success`, of all probes. */
  readonly others: readonly string[];
  /** Logs of the proxies of the agents. */
  readonly logs: readonly string[];
  readonly port: number;
}

async function restartBoth(startFront: typeof startNginx): Promise<Run> {
  const [port, one, two] = [await freePort(), await freePort(), await freePort()];
  const service = await startGatewayService(port);
  const started: ForeignProxy[] = [];
  try {
    return await restartBehind(service, startFront, started, [port, one, two]);
  } finally {
    await Promise.all(started.map((proxy) => proxy.stop()));
    await service.stop();
  }
}

/** @param started gets the proxies */
async function restartBehind(
  service: GatewayService,
  startFront: typeof startNginx,
  started: ForeignProxy[],
  [port, one, two]: readonly [number, number, number],
): Promise<Run> {
  const { folder, caFile, keyFile } = service;
  const settings = (own: number) => ({ ...manyRequests, PORT: String(own), TRUSTED_PROXIES: '1' });
  let [first, second] = await Promise.all([
    service.startCoordinator(settings(one)),
    service.startCoordinator(settings(two)),
  ]);
  service.route(first);
  const keep = async (starting: Promise<ForeignProxy>): Promise<ForeignProxy> => {
    const proxy = await starting;
    started.push(proxy);
    return proxy;
  };
  await keep(startFront({ folder, port, certificateFile: caFile, keyFile, coordinators: [one, two] }));
  const squid = await keep(startSquid(folder, logins['squid-1']));
  const tinyproxy = await keep(startTinyproxy(folder, logins['tiny-1']));
  const agents = await startAgents(service, { 'squid-1': squid, 'tiny-1': tinyproxy });

  const body = { type: 'http', host: `http://127.0.0.1:${(target.address() as AddressInfo).port}/`, probes };
  const checks: Promise<string | undefined>[] = [];
  const load = setInterval(() => checks.push(startIfTaken(service, body)), EVERY_MS);
  const someMore = async (): Promise<void> => {
    const enough = checks.length + SOME;
    await until(() => checks.length >= enough);
  };
  try {
    await someMore();
    service.route(second);
    // The first coordinator stops only when its requests are answered: a request that it cut off would not be repeated.
    await Promise.allSettled(checks);
    await stop(first);
    first = await service.startCoordinator(settings(one));
    await until(() => isReady(first));
    await someMore();
    service.route(first);
    await Promise.allSettled(checks);
    await stop(second);
    second = await service.startCoordinator(settings(two));
    await until(() => agents.every((agent) => connectsOf(agent.log()) >= 2));
    await someMore();
  } finally {
    clearInterval(load);
  }
  const ids = (await Promise.all(checks)).filter((id) => id !== undefined);
  const results = await Promise.all(ids.map((id) => service.completed(id)));
  const outcomes = results.flatMap((check) =>
    probes.map((probe) => {
      const { result = 'none', error } = (check.results[probe] ?? {}) as {
        result?: string;
        error?: { code: string; message: string };
      };
      return error === undefined || error === null ? result : `${probe}: ${error.code}: ${error.message}`;
    }),
  );
  const others = outcomes.filter((outcome) => outcome !== 'success');
  return { accepted: ids.length, others, logs: [squid.log(), tinyproxy.log()], port };
}

describe('agents behind programs that others wrote', () => {
  for (const [name, startFront] of [
    ['nginx', startNginx],
    ['haproxy', startHaproxy],
  ] as const) {
    itWithProxies(
      `lose no check through squid, tinyproxy and ${name} while both gateways are restarted in turn`,
      async () => {
        const { accepted, others, logs, port } = await restartBoth(startFront);

        expect(accepted).toBeGreaterThanOrEqual(SOME);
        expect(others).toEqual([]);
        for (const log of logs) expect(log).toContain(`CONNECT 127.0.0.1:${port}`);
      },
    );
  }
});
