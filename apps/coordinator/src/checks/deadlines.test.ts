import { redisKeys } from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { echo, report, startCoreBed, success, until, type CoreBed } from '../../test/core-bed.ts';
import { createDeadlines } from './deadlines.ts';

let bed: CoreBed;

beforeAll(async () => {
  bed = await startCoreBed();
  await bed.addProbe('fra-1');
  await bed.keepAlive('fra-1');
  await until(async () => (await bed.core.ready()).healthyProbes === 1);
});

afterAll(async () => bed.stop());

describe('the deadlines', () => {
  it('take many completed checks off by one command, before they tell what is due', async () => {
    const deadlines = createDeadlines(bed.redis);
    const ended = Array.from({ length: 50 }, (_, index) => `ended-${index}`);
    // Of a time that a core does not come to: it would end them itself.
    await bed.redis.zadd(redisKeys.deadlines, ...ended.flatMap((id) => [8e15, id]));
    const calls = await zremCalls();

    for (const id of ended) deadlines.forget(id);
    const { nowMs } = await deadlines.due(100);

    expect(Math.abs(nowMs - Date.now())).toBeLessThan(60_000);
    expect(await bed.redis.zmscore(redisKeys.deadlines, ...ended)).toEqual(ended.map(() => null));
    expect((await zremCalls()) - calls).toBe(1);
  });

  it('do not tell of a check that was forgotten while its deadline passed', async () => {
    await bed.core.close();
    const deadlines = createDeadlines(bed.redis);
    await bed.redis.zadd(redisKeys.deadlines, 1, 'forgotten', 2, 'due');

    deadlines.forget('forgotten');

    expect((await deadlines.due(100)).due).toEqual(['due']);
    await bed.redis.zrem(redisKeys.deadlines, 'due');
  });

  it('lose a completed check soon after its last result', async () => {
    const core = bed.startCore();
    await until(async () => (await core.ready()).healthyProbes === 1);
    const creation = await core.checks.create({
      ...{ submittedHost: 'h', params: { host: 'h', options: { budget: 600_000 } }, limit: 1 },
      checkType: echo,
    });
    const id = creation.created ? creation.checkId : '';

    expect(await bed.redis.zscore(redisKeys.deadlines, id)).not.toBeNull();
    await report(bed.redis, 'fra-1', id, success('done'));
    await until(async () => (await bed.redis.zscore(redisKeys.deadlines, id)) === null);

    expect((await core.checks.read(id, 0, new AbortController().signal))?.status).toBe('completed');
  });
});

async function zremCalls(): Promise<number> {
  const stats = await bed.redis.info('commandstats');
  return Number(/^cmdstat_zrem:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
}
