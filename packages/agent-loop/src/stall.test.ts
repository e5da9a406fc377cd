import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { eventually } from '../test/eventually.ts';
import { startProbeRedis, type ProbeRedis } from '../test/probe-redis.ts';

// Longer than a silent connection is kept before it is replaced.
const STANDS_STILL_MS = 7_000;
// Longer than the job loop may make no progress while Redis responds.
const LONG_MS = 36_000;

interface SeparateAgent {
  readonly redis: ProbeRedis;
  readonly process: ChildProcess;
  readonly stop: () => Promise<void>;
}

async function startAgent(): Promise<SeparateAgent> {
  const redis = await startProbeRedis('still');
  const child = fork(fileURLToPath(new URL('../test/loop-process.ts', import.meta.url)), ['still', redis.url], {
    execArgv: ['--conditions=vantage-source'],
  });
  await once(child, 'message');
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await redis.stop();
  };
  return { redis, process: child, stop };
}

let redis: ProbeRedis;
let agent: ChildProcess;
const agents: SeparateAgent[] = [];
/** Runs during the other tests, with a separate agent and Redis. */
let longStall: Promise<SeparateAgent>;

beforeAll(async () => {
  const [first, second] = [await startAgent(), await startAgent()];
  agents.push(first, second);
  ({ redis, process: agent } = first);
  longStall = standStill(second.redis.pid, LONG_MS).then(() => second);
});

afterAll(async () => {
  await Promise.all(agents.map(({ stop }) => stop()));
});

async function standStill(pid: number, milliseconds = STANDS_STILL_MS): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  await sleep(milliseconds);
  process.kill(pid, 'SIGCONT');
}

describe('an agent', () => {
  it.each([
    ['it stood still', () => agent.pid!],
    ['Redis stood still', () => redis.pid],
    ['it stood still once more', () => agent.pid!],
  ])('takes jobs after %s, and says nothing else of itself', async (_what, pid) => {
    await standStill(pid());

    const checks = await Promise.all([redis.addJob(), redis.addJob(), redis.addJob()]);

    for (const check of checks) {
      const result = await eventually(async () => (await redis.results()).get(check));
      expect(result).toMatchObject({ result: 'success' });
    }
    await eventually(async () => ((await redis.left()) === 0 ? true : undefined));
    const heartbeat = await eventually(redis.heartbeat);
    expect(heartbeat).toMatchObject({ degraded: [] });
  });

  it('runs jobs that were given while it stood still', async () => {
    process.kill(agent.pid!, 'SIGSTOP');
    const checks = await Promise.all([redis.addJob(), redis.addJob()]);
    await sleep(STANDS_STILL_MS);
    process.kill(agent.pid!, 'SIGCONT');

    for (const check of checks) {
      expect(await eventually(async () => (await redis.results()).get(check))).toMatchObject({ result: 'success' });
    }
  });

  it('does not end while Redis stands still, whose kernel accepts connections', async () => {
    const { redis: stopped, process: patient } = await longStall;

    const check = await stopped.addJob();

    expect(await eventually(async () => (await stopped.results()).get(check))).toMatchObject({ result: 'success' });
    expect(patient.exitCode).toBeNull();
  });
});
