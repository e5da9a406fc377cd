import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from '@vantage/redis-server';
import { packagesMissing } from '@vantage/test-support/debian-packages';
import { itNeeding } from '@vantage/test-support/needs';
import { until } from '@vantage/test-support/until';
import { describe, expect, jest } from '@jest/globals';

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

const missing =
  process.getuid?.() === 0
    ? await packagesMissing(packages.nginx, packages.haproxy, packages.squid, packages.tinyproxy)
    : 'traceroute needs root';
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
/** Number of checks before a gateway stops, between two stops, and after agents are back. */
const SOME = 5;
/** Maximum number of checks that have not ended: with more, a slow machine would fall behind further and further. */
const MOST_OPEN = 4;
/**
 * A check that takes a second and has 32: on a busy machine, an agent may need several attempts of seconds until it is
 * connected again.
 */
const check = { type: 'traceroute', host: '127.0.0.1', probes, options: { rounds: 2 } };

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
  /** Checks that were accepted behind each front. */
  readonly accepted: readonly number[];
  /** Results other than `success`, of all probes that were online when the check was created. */
  readonly others: readonly string[];
  /** Logs of the proxies of the agents. */
  readonly logs: readonly string[];
  readonly port: number;
}

async function restartBehindBoth(): Promise<Run> {
  const [port, one, two] = [await freePort(), await freePort(), await freePort()];
  const service = await startGatewayService(port);
  const started: ForeignProxy[] = [];
  try {
    return await restartBehind(service, started, [port, one, two]);
  } finally {
    await Promise.all(started.map((proxy) => proxy.stop()));
    await service.stop();
  }
}

/** Checks at an interval, while gateways stop and start. */
class Load {
  readonly checks: Promise<string | undefined>[] = [];
  readonly #service: GatewayService;
  /** Checks that have not ended, the oldest first. */
  readonly #open: string[] = [];
  #running: Promise<void> = Promise.resolve();
  #isPaused = true;
  /** Requests of the current step, or of the last one. */
  #step: Promise<void> = Promise.resolve();

  constructor(service: GatewayService) {
    this.#service = service;
  }

  run(): void {
    this.#isPaused = false;
    this.#running = this.#loop();
  }

  async pause(): Promise<void> {
    this.#isPaused = true;
    await this.#running;
  }

  async someMore(): Promise<void> {
    const enough = this.checks.length + SOME;
    await until(() => this.checks.length >= enough);
  }

  /** Waits until the requests that are under way are answered. */
  async answered(): Promise<void> {
    await Promise.allSettled([this.#step]);
  }

  async accepted(): Promise<readonly string[]> {
    return (await Promise.all(this.checks)).filter((id) => id !== undefined);
  }

  async #loop(): Promise<void> {
    while (!this.#isPaused) {
      this.#step = this.#next();
      await Promise.all([this.#step, sleep(EVERY_MS)]);
    }
  }

  async #next(): Promise<void> {
    const [oldest] = this.#open;
    if (oldest !== undefined && (await this.#service.read(oldest)).status === 'completed') this.#open.shift();
    if (this.#open.length >= MOST_OPEN) return;
    const starting = startIfTaken(this.#service, check);
    this.checks.push(starting);
    const id = await starting;
    if (id !== undefined) this.#open.push(id);
  }
}

/** @param started gets the proxies */
async function restartBehind(
  service: GatewayService,
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
  const front = { folder, port, certificateFile: caFile, keyFile, coordinators: [one, two] } as const;
  const nginx = await startNginx(front);
  started.push(nginx);
  const squid = await keep(startSquid(folder, logins['squid-1']));
  const tinyproxy = await keep(startTinyproxy(folder, logins['tiny-1']));
  const agents = await startAgents(service, { 'squid-1': squid, 'tiny-1': tinyproxy });
  const connects = (): readonly number[] => agents.map((agent) => connectsOf(agent.log()));

  const load = new Load(service);
  /** A coordinator stops only when its requests are answered: a request that it cut off would not be repeated. */
  const restart = async (stopping: Coordinator, other: Coordinator, own: number): Promise<Coordinator> => {
    service.route(other);
    await load.answered();
    await stop(stopping);
    return service.startCoordinator(settings(own));
  };
  let behindNginx = 0;
  try {
    load.run();
    await load.someMore();
    first = await restart(first, second, one);
    await until(() => isReady(first));
    await load.someMore();
    second = await restart(second, first, two);
    await until(() => connects().every((count) => count >= 2));
    await load.someMore();
    await load.pause();
    behindNginx = (await load.accepted()).length;

    await until(() => isReady(second));
    const before = connects();
    await nginx.stop();
    await keep(startHaproxy(front));
    await until(() => connects().every((count, index) => count > before[index]!));
    load.run();
    await load.someMore();
    // HAProxy connects each agent to the coordinator with fewer, so this one has some.
    const connected = sum(connects());
    first = await restart(first, second, one);
    await until(() => sum(connects()) > connected);
    await load.someMore();
  } finally {
    await load.pause();
  }
  const ids = await load.accepted();
  const others = await outcomesOtherThanSuccess(service, ids);
  return {
    accepted: [behindNginx, ids.length - behindNginx],
    others,
    logs: [squid.log(), tinyproxy.log()],
    port,
  };
}

async function outcomesOtherThanSuccess(service: GatewayService, ids: readonly string[]): Promise<readonly string[]> {
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
  // On a busy machine, a probe may be found offline while its agent connects again.
  return outcomes.filter((outcome) => outcome !== 'success' && !outcome.includes(': probe_offline: '));
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

describe('agents behind programs that others wrote', () => {
  itWithProxies(
    'lose no check through squid and tinyproxy, behind nginx and then HAProxy, while gateways are restarted in turn',
    async () => {
      const { accepted, others, logs, port } = await restartBehindBoth();

      for (const count of accepted) expect(count).toBeGreaterThanOrEqual(SOME);
      expect(others).toEqual([]);
      for (const log of logs) expect(log).toContain(`CONNECT 127.0.0.1:${port}`);
    },
  );
});
