import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { eventually } from '../test/eventually.ts';
import { startProbeRedis, type ProbeRedis } from '../test/probe-redis.ts';
import { startSilentProxy, type SilentProxy } from '../test/silent-proxy.ts';
import { silent } from '../test/silent.ts';
import { createAgentLoop } from './agent-loop.ts';

// Longer than a silent connection is kept before it is replaced.
const LASTS_MS = 8_000;

interface FarAgent {
  readonly redis: ProbeRedis;
  readonly proxy: SilentProxy;
  /** Ids of the checks whose jobs were run. */
  readonly runs: readonly string[];
  readonly close: () => Promise<void>;
}

/** An agent with its own Redis behind a proxy. */
async function startFarAgent(): Promise<FarAgent> {
  const redis = await startProbeRedis('far');
  const proxy = await startSilentProxy(Number(new URL(redis.url).port));
  const runs: string[] = [];
  const agent = createAgentLoop({
    probeId: 'far',
    redisUrl: `redis://127.0.0.1:${proxy.port}`,
    concurrency: 4,
    drainMs: 100,
    log: silent,
    open: async () => ({
      prepare: ({ outlet }) => ({
        run: async (_job, id) => {
          runs.push(id);
          void outlet.final(id, JSON.stringify({ result: 'success' }), Date.now() + 60_000);
        },
        isExempt: () => false,
        isCheckId: (id) => id.length === 22,
        describe: () => ({
          version: '1',
          capabilities: { types: ['tcp'], ipv4: true, ipv6: false, screenshot: false },
          degraded: [],
        }),
      }),
      close: async () => undefined,
    }),
  });
  await agent.start();
  const close = async (): Promise<void> => {
    proxy.close();
    await agent.close();
    await redis.stop();
  };
  return { redis, proxy, runs, close };
}

/** Adds a job every quarter of a second for `LASTS_MS`. */
async function addJobs(redis: ProbeRedis): Promise<string[]> {
  const checks: string[] = [];
  const until = performance.now() + LASTS_MS;
  while (performance.now() < until) {
    checks.push(await redis.addJob());
    await sleep(250);
  }
  return checks;
}

async function areRunOnce(checks: readonly string[], { redis, runs }: FarAgent): Promise<void> {
  for (const check of checks) {
    expect(await eventually(async () => (await redis.results()).get(check))).toMatchObject({ result: 'success' });
  }
  await eventually(async () => ((await redis.left()) === 0 ? true : undefined));
  expect(runs.toSorted()).toEqual(checks.toSorted());
}

const holding =
  (...directions: readonly ('there' | 'back')[]) =>
  async ({ proxy, redis }: FarAgent): Promise<readonly string[]> => {
    proxy.hold(...directions);
    const checks = await addJobs(redis);
    proxy.release();
    return [...checks, await redis.addJob()];
  };

/** Each function disturbs the connections of an agent for some seconds, and resolves with the checks that it added. */
const partitions: readonly (readonly [name: string, spoil: (agent: FarAgent) => Promise<readonly string[]>])[] = [
  ['that was added while its commands do not arrive, and afterwards', holding('there')],
  ['that was added while the answers do not arrive, and afterwards', holding('back')],
  ['that was added while nothing arrives, and afterwards', holding('there', 'back')],
  [
    'though its connections are forgotten on the way',
    async ({ proxy, redis }) => {
      proxy.forget();
      return addJobs(redis);
    },
  ],
];

const agents = new Map<string, { readonly agent: FarAgent; readonly checks: Promise<readonly string[]> }>();

// All at once: each agent has its own Redis, and most of the time passes in waiting.
beforeAll(async () => {
  for (const [name, spoil] of partitions) {
    const agent = await startFarAgent();
    const checks = spoil(agent);
    // A test reports the failure.
    checks.catch(() => undefined);
    agents.set(name, { agent, checks });
  }
});

afterAll(async () => {
  await Promise.all([...agents.values()].map(({ agent }) => agent.close()));
});

describe('the loop of an agent runs each job once', () => {
  it.each(partitions)('%s', async (name) => {
    const { agent, checks } = agents.get(name)!;

    await areRunOnce(await checks, agent);
  });
});
