import { setTimeout as sleep } from 'node:timers/promises';

import { redisKeys } from '@vantage/contract';

import { untilProbesAreUp } from '../trial-probes.ts';
import { openDirect, type Agent, type Coordinator, type Deployment } from './deployment.ts';
import type { Observer } from './observer.ts';
import { descendantsOf } from './processes.ts';

/** Something that goes wrong, done for real, and undone before it returns. */
export interface Fault {
  readonly name: string;
  /** The store that it needs; without it either. */
  readonly store?: 'single' | 'sentinel';
  /** Why it cannot be had in this deployment, or undefined. */
  readonly impossible?: (deployment: Deployment) => Promise<string | undefined> | string | undefined;
  readonly inject: (scene: Scene) => Promise<void>;
}

export interface Scene {
  readonly deployment: Deployment;
  readonly observer: Observer;
  readonly random: () => number;
  /** How long what lasts a while lasts: 1 as the name says, less for a short trial. */
  readonly scale: number;
}

export const faults: readonly Fault[] = [
  { name: 'none', inject: async ({ scale }) => sleep(scaled(3_000, scale)) },
  {
    name: 'agent killed before, while and after it works on jobs',
    inject: async ({ deployment, observer, random }) => {
      const agent = pickAgent(deployment, random);
      // Jobs that take two seconds are on it by now; so are some that it has not looked at.
      await observer.burst(pickCoordinator(deployment, random), 6);
      await sleep(random() * 30);
      await agent.part.kill();
      await observer.burst(pickCoordinator(deployment, random), 3);
      agent.part.start();
      await untilProbesAreUp(deployment.coordinators[0]!.url, deployment.agents.length);
    },
  },
  {
    name: 'coordinator killed before, between and after its writes',
    inject: async ({ deployment, observer, random }) => {
      const coordinator = pickCoordinator(deployment, random);
      const burst = observer.burst(coordinator, 12);
      await sleep(random() * 25);
      await coordinator.part.kill();
      await burst;
      coordinator.part.start();
      await untilProbesAreUp(coordinator.url, deployment.agents.length);
    },
  },
  {
    name: 'packet process killed',
    inject: async ({ deployment, random }) => {
      for (let times = 0; times < 3; times += 1) {
        killChildren(pickAgent(deployment, random), /packet-process/);
        await sleep(300);
      }
    },
  },
  {
    name: 'browser killed',
    impossible: async ({ coordinators }) =>
      (await takesScreenshots(coordinators[0]!)) ? undefined : 'no agent takes screenshots here',
    inject: async ({ deployment, observer, random }) => {
      const { httpPort } = deployment.targets;
      const body = { type: 'http', host: `http://127.0.0.1:${httpPort}/`, options: { screenshot: true } };
      await observer.burst(pickCoordinator(deployment, random), 3, { body, budgetMs: PICTURE_BUDGET_MS });
      const giveUpAt = performance.now() + 5_000;
      for (let killed = 0; killed === 0 && performance.now() < giveUpAt; await sleep(20)) {
        for (const agent of deployment.agents) killed += killChildren(agent, /chrom|headless/);
      }
    },
  },
  {
    name: 'Redis stands still',
    store: 'single',
    inject: async ({ deployment, random, scale }) => {
      await standStill(await deployment.store.masterPid(), stillMs(random, scale));
    },
  },
  {
    name: 'an agent stands still',
    inject: async ({ deployment, random, scale }) => {
      await standStill(pickAgent(deployment, random).part.pid(), stillMs(random, scale));
    },
  },
  {
    name: 'all agents stand still',
    inject: async ({ deployment, random, scale }) => {
      const ms = stillMs(random, scale);
      await Promise.all(deployment.agents.map(({ part }) => standStill(part.pid(), ms)));
    },
  },
  {
    name: 'a packet process stands still',
    inject: async ({ deployment, random, scale }) => {
      const [pid] = childrenOf(pickAgent(deployment, random).part.pid(), /packet-process/);
      await standStill(pid, stillMs(random, scale));
    },
  },
  {
    name: 'a browser stands still',
    impossible: async ({ coordinators }) =>
      (await takesScreenshots(coordinators[0]!)) ? undefined : 'no agent takes screenshots here',
    inject: async ({ deployment, observer, random, scale }) => {
      const { httpPort } = deployment.targets;
      const body = { type: 'http', host: `http://127.0.0.1:${httpPort}/`, options: { screenshot: true } };
      await observer.burst(pickCoordinator(deployment, random), 2, { body, budgetMs: PICTURE_BUDGET_MS });
      const pids = childrenOf(pickAgent(deployment, random).part.pid(), /chrom|headless/);
      const ms = stillMs(random, scale);
      await Promise.all(pids.map((pid) => standStill(pid, ms)));
    },
  },
  {
    name: 'Redis killed and started again on its append-only file',
    store: 'single',
    inject: async ({ deployment, random, scale }) => {
      await deployment.store.kill();
      await sleep(scaled(500 + random() * 3_000, scale));
      await deployment.store.restart();
      await sleep(scaled(2_000, scale));
    },
  },
  {
    name: 'Redis out of memory',
    store: 'single',
    inject: async ({ deployment, scale }) => {
      await configure(deployment, 'maxmemory', '1');
      await sleep(scaled(3_000, scale));
      await configure(deployment, 'maxmemory', '0');
      await sleep(scaled(1_000, scale));
    },
  },
  {
    name: 'disk of Redis full',
    store: 'single',
    impossible: ({ store }) => (store.fillDisk === undefined ? 'a small disk needs root' : undefined),
    inject: async ({ deployment, scale }) => {
      // With `always` Redis ends at the first write that fails, which is as if it were killed.
      await configure(deployment, 'appendfsync', 'everysec');
      deployment.store.fillDisk?.();
      await sleep(scaled(4_000, scale));
      deployment.store.freeDisk();
      await sleep(scaled(1_000, scale));
      await untilWritable(deployment);
      await writeFileAnew(deployment);
      await configure(deployment, 'appendfsync', 'always');
    },
  },
  {
    name: 'connections cut',
    store: 'single',
    inject: async ({ deployment, random, scale }) => {
      for (let times = 0; times < 4; times += 1) {
        pick([...deployment.agents, ...deployment.coordinators], random).link?.cut();
        await sleep(scaled(300, scale));
      }
    },
  },
  {
    name: 'half-open connections',
    store: 'single',
    inject: async ({ deployment, random, scale }) => {
      // One coordinator and one agent at most: while no coordinator reaches Redis, none runs as far as checks go.
      const links = [pickCoordinator(deployment, random).link, pickAgent(deployment, random).link];
      for (const link of links) link?.silence();
      await sleep(scaled(7_000, scale));
      for (const link of links) link?.mend();
      await sleep(scaled(1_000, scale));
    },
  },
  {
    name: 'connections slow by 250 ms',
    store: 'single',
    inject: async ({ deployment, scale }) => {
      const links = [...deployment.agents, ...deployment.coordinators].map(({ link }) => link);
      for (const link of links) link?.delay(125);
      await sleep(scaled(5_000, scale));
      for (const link of links) link?.mend();
    },
  },
  {
    name: 'clock of an agent wrong by an hour',
    inject: async ({ deployment, random, scale }) => {
      const agent = pickAgent(deployment, random);
      for (const clockOffByMs of [random() < 0.5 ? -3_600_000 : 3_600_000, undefined]) {
        await agent.part.kill();
        agent.part.start(clockOffByMs === undefined ? {} : { clockOffByMs });
        await untilProbesAreUp(deployment.coordinators[0]!.url, deployment.agents.length);
        if (clockOffByMs !== undefined) await sleep(scaled(3_000, scale));
      }
    },
  },
  {
    name: 'duplicate, late and reordered results',
    inject: async ({ deployment, observer, random }) => {
      const redis = openDirect(await deployment.store.masterPort());
      const ids = observer.completed().slice(0, 20);
      for (const id of ids) {
        const { id: probe } = pickAgent(deployment, random);
        const forged = JSON.stringify({ ...forgedResult, rt: Math.round(random() * 1_000) });
        // In an order that no agent writes: the partial result behind the final one.
        for (const kind of ['final', 'partial', 'final']) {
          await redis.xadd(redisKeys.results(probe), '*', 'check', id, 'kind', kind, 'data', forged);
        }
        await redis.publish(redisKeys.resultHint(probe), '1');
      }
      redis.disconnect();
      await sleep(500);
    },
  },
  {
    name: 'agent comes back to an old backlog',
    inject: async ({ deployment, observer, random, scale }) => {
      const agent = pickAgent(deployment, random);
      const pid = agent.part.pid();
      if (pid === undefined) return;
      process.kill(pid, 'SIGSTOP');
      await observer.burst(pickCoordinator(deployment, random), 6);
      await sleep(scaled(9_000, scale));
      process.kill(pid, 'SIGCONT');
      await untilProbesAreUp(deployment.coordinators[0]!.url, deployment.agents.length);
    },
  },
  {
    name: 'rolling restart of coordinators and agents',
    inject: async ({ deployment }) => {
      for (const coordinator of deployment.coordinators) {
        await coordinator.part.drain();
        coordinator.part.start();
        await untilProbesAreUp(coordinator.url, deployment.agents.length);
      }
      for (const agent of deployment.agents) {
        await agent.part.drain();
        agent.part.start();
        await untilProbesAreUp(deployment.coordinators[0]!.url, deployment.agents.length);
      }
    },
  },
  {
    name: 'Redis failed over by Sentinel',
    store: 'sentinel',
    inject: async ({ deployment }) => {
      const before = await deployment.store.masterPort();
      await deployment.store.kill();
      while ((await deployment.store.masterPort()) === before) await sleep(50);
      await untilProbesAreUp(deployment.coordinators[0]!.url, deployment.agents.length);
      await sleep(1_000);
    },
  },
];

/** 15 s for an http check and as much again for its picture. */
const PICTURE_BUDGET_MS = 30_000;

/** A result that every schema of the types that are used here takes. */
const forgedResult = {
  ...{ result: 'success', resolvedIp: '192.0.2.99', error: null, port: 1, state: 'open' },
  ...{ startedAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:00:00.100Z' },
};

/** @returns how many */
function killChildren(agent: Agent, command: RegExp): number {
  const pids = childrenOf(agent.part.pid(), command);
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
  return pids.length;
}

async function takesScreenshots({ url }: Coordinator): Promise<boolean> {
  const probes = (await (await fetch(`${url}/probes`)).json()) as Readonly<
    Record<string, { readonly capabilities: { readonly screenshot: boolean } | null }>
  >;
  return Object.values(probes).some(({ capabilities }) => capabilities?.screenshot === true);
}

function childrenOf(pid: number | undefined, command: RegExp): readonly number[] {
  if (pid === undefined) return [];
  return descendantsOf(pid).flatMap((child) => (command.test(child.command) ? [child.pid] : []));
}

/** Redis tries its file again each second. */
async function untilWritable(deployment: Deployment): Promise<void> {
  const redis = openDirect(await deployment.store.masterPort());
  while ((await redis.set('chaos:disk', '1', 'PX', 1_000).catch(() => undefined)) !== 'OK') await sleep(50);
  redis.disconnect();
}

/** What an operator does after a full disk: Redis 7.0 was seen to leave a record in its file that it could not read again. */
async function writeFileAnew(deployment: Deployment): Promise<void> {
  const redis = openDirect(await deployment.store.masterPort());
  for (let asked = false; ;) {
    asked ||= await redis.bgrewriteaof().then(
      () => true,
      () => false,
    );
    const state = await redis.info('persistence').catch(() => '');
    if (asked && /aof_rewrite_in_progress:0/.test(state) && /aof_rewrite_scheduled:0/.test(state)) break;
    await sleep(50);
  }
  redis.disconnect();
}

async function configure(deployment: Deployment, name: string, value: string): Promise<void> {
  const redis = openDirect(await deployment.store.masterPort());
  await redis.config('SET', name, value);
  redis.disconnect();
}

/** As long as a machine that migrates, swaps or has its lid closed: each of these is met as often. */
function stillMs(random: () => number, scale: number): number {
  return scaled(pick([500, 2_000, 5_000, 8_000, 15_000, 30_000], random), scale);
}

/** Stops a process and lets it go on. One that ended meanwhile, or is not there, stays so. */
async function standStill(pid: number | undefined, ms: number): Promise<void> {
  if (pid === undefined) return;
  try {
    process.kill(pid, 'SIGSTOP');
    await sleep(ms);
    process.kill(pid, 'SIGCONT');
  } catch {
    // It has ended.
  }
}

function pickAgent({ agents }: Deployment, random: () => number): Agent {
  return pick(agents, random);
}

function pickCoordinator({ coordinators }: Deployment, random: () => number): Coordinator {
  return pick(coordinators, random);
}

function pick<T>(items: readonly T[], random: () => number): T {
  return items[Math.floor(random() * items.length)]!;
}

function scaled(ms: number, scale: number): number {
  return ms * scale;
}
