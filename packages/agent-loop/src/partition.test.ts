import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { eventually } from '../test/eventually.ts';
import { startProbeRedis, type ProbeRedis } from '../test/probe-redis.ts';
import { startSilentProxy, type SilentProxy } from '../test/silent-proxy.ts';
import { silent } from '../test/silent.ts';
import { createAgentLoop, type AgentLoop } from './agent-loop.ts';

// Longer than a silent connection is kept before it is replaced.
const LASTS_MS = 8_000;
jest.setTimeout(120_000);

let redis: ProbeRedis;
let proxy: SilentProxy;
let agent: AgentLoop;
let runs: string[];

beforeEach(async () => {
  redis = await startProbeRedis('far');
  proxy = await startSilentProxy(Number(new URL(redis.url).port));
  runs = [];
  agent = createAgentLoop({
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
        isAside: () => false,
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
});

afterEach(async () => {
  proxy.close();
  await agent.close();
  await redis.stop();
});

/** Adds jobs for this long. */
async function addJobs(): Promise<string[]> {
  const checks: string[] = [];
  const until = performance.now() + LASTS_MS;
  while (performance.now() < until) {
    checks.push(await redis.addJob());
    await sleep(250);
  }
  return checks;
}

async function areRunOnce(checks: readonly string[]): Promise<void> {
  for (const check of checks) {
    expect(await eventually(async () => (await redis.results()).get(check))).toMatchObject({ result: 'success' });
  }
  await eventually(async () => ((await redis.left()) === 0 ? true : undefined));
  expect(runs.toSorted()).toEqual(checks.toSorted());
}

describe('the loop of an agent', () => {
  it.each([
    ['its commands do not arrive', ['there'] as const],
    ['the answers do not arrive', ['back'] as const],
    ['nothing arrives', ['there', 'back'] as const],
  ])('runs each job once that was added while %s, and afterwards', async (_how, directions) => {
    proxy.hold(...directions);
    const checks = await addJobs();
    proxy.release();
    checks.push(await redis.addJob());

    await areRunOnce(checks);
  });

  it('runs each job once though its connections are forgotten on the way', async () => {
    proxy.forget();
    const checks = await addJobs();

    await areRunOnce(checks);
  });
});
