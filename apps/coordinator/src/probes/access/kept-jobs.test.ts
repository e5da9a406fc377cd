import { redisKeys, screenshotJobId } from '@vantage/contract';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

import { quiet, startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { report, success } from '../../../test/check-steps.ts';
import { MOST_QUEUED } from '../../checks/create/probe-capacity.ts';
import { createKeptJobs } from './kept-jobs.ts';

const queue = 'p:{keeper}:jobs';
let bed: CoreBed;

beforeAll(async () => {
  bed = await startCoreBed();
  await bed.addProbe('keeper');
  await bed.keepAlive('keeper');
  await until(async () => (await bed.core.probes.list())['keeper']?.status === 'healthy');
});

afterAll(async () => bed.stop());

/** Takes a job like an agent: moves it to the list of active jobs. */
async function take(): Promise<void> {
  await bed.redis.lmove(`${queue}:wait`, `${queue}:active`, 'RIGHT', 'LEFT');
}

/** Writes jobs that the agent took and has not removed. */
async function keep(ids: readonly string[], takenAtMs = Date.now()): Promise<void> {
  await bed.redis.rpush(`${queue}:active`, ...ids);
  await Promise.all(ids.map((id) => bed.redis.hset(`${queue}:${id}`, 'name', 'echo', 'timestamp', takenAtMs)));
}

const kept = (): Promise<string[]> => bed.redis.lrange(`${queue}:active`, 0, -1);

it('loses the jobs of checks that are over, answered or not stored any more, and keeps those that are pending', async () => {
  const answered = await bed.start({ probes: ['keeper'] });
  const pending = await bed.start({ probes: ['keeper'] });
  await take();
  await take();
  await report(bed.redis, 'keeper', answered, success('done'));
  await until(async () => (await bed.read(answered)).status === 'completed');
  expect((await kept()).toSorted()).toEqual([answered, pending].toSorted());

  await keep([screenshotJobId(pending)]);
  await keep([screenshotJobId(answered)], Date.now() - 300_000);
  // Added last: a coordinator reads the list of active jobs of a probe only if it has more than 64 entries.
  await keep(Array.from({ length: 100 }, (_, index) => `unknown-${index}`));
  await until(async () => (await kept()).length <= 2);

  expect((await kept()).toSorted()).toEqual([pending, screenshotJobId(pending)].toSorted());
  const keys = await bed.redis.keys(`${queue}:*`);
  expect(keys).toContain(`${queue}:${pending}`);
  expect(keys.filter((key) => key.includes('unknown') || key.includes(answered))).toEqual([]);
});

it('is given no more jobs while it keeps as many as its queue may have, until it has removed some', async () => {
  const probe = 'p:{hoarder}:jobs';
  await bed.addProbe('hoarder');
  await bed.keepAlive('hoarder');
  await until(async () => (await bed.core.probes.list())['hoarder']?.status === 'healthy');
  // Jobs of pending checks, which the coordinator does not remove.
  const ids = Array.from({ length: MOST_QUEUED }, (_, index) => `pending-${index}`);
  await Promise.all(ids.map((id) => bed.redis.hset(redisKeys.checkResults(id), 'hoarder', '')));
  await bed.redis.rpush(`${probe}:active`, ...ids);
  const start = (): Promise<unknown> => bed.create({ probes: ['hoarder'] }).catch((error: Error) => error.name);

  // Waits until the coordinator has read the list.
  await until(async () => (await start()) === 'QueuesFull');
  await bed.redis.del(`${probe}:active`);

  await until(async () => (await start()) !== 'QueuesFull');
});

it('says that an agent keeps a job only if the job is still there a second later', async () => {
  const warnings: unknown[] = [];
  const keptJobs = createKeptJobs(bed.redis, { ...quiet, warn: (fields: unknown) => warnings.push(fields) });
  const active = 'p:{remover}:jobs:active';
  await bed.redis.rpush(active, 'over-1', 'over-2', 'over-3');

  keptJobs.note('remover');
  // Removes the jobs after the coordinator has read the list and before it removes them, as an agent may.
  await Promise.all(['over-1', 'over-2'].map((id) => bed.redis.lrem(active, 1, id)));
  await until(async () => warnings.length > 0);

  expect(warnings).toEqual([{ probe: 'remover', jobs: 1 }]);
  expect(await bed.redis.exists(active)).toBe(0);
});

it('finds the oldest job behind more pending ones than one look reads', async () => {
  const active = 'p:{crowded}:jobs:active';
  const pending = Array.from({ length: 1_500 }, (_, index) => `pending-${index}`);
  await Promise.all(pending.map((id) => bed.redis.hset(redisKeys.checkResults(id), 'crowded', '')));
  await bed.redis.rpush(active, ...pending, 'over');

  createKeptJobs(bed.redis, quiet).note('crowded');

  await until(async () => (await bed.redis.llen(active)) === pending.length);
  expect(await bed.redis.lrange(active, -1, -1)).toEqual(pending.slice(-1));
});
