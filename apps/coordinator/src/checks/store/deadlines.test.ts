import { once } from 'node:events';

import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { echo } from '../../../test/echo-type.ts';
import { report, success } from '../../../test/check-steps.ts';
import { startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { CLOCK_STEP_MS } from '../../redis/clock.ts';
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
    // A deadline so far away that no coordinator handles it.
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

  it('keep a check whose completion was seen on a connection that was lost since', async () => {
    const redis = bed.redis.duplicate();
    const deadlines = createDeadlines(redis);
    await redis.zadd(redisKeys.deadlines, 1, 'completed where it was lost');

    deadlines.forget('completed where it was lost');
    const ready = once(redis, 'ready');
    redis.disconnect(true);
    await ready;

    expect((await deadlines.due(100)).due).toEqual(['completed where it was lost']);
    await redis.zrem(redisKeys.deadlines, 'completed where it was lost');
    redis.disconnect();
  });

  it.each([120_000, 3_600_000])(
    'move by a step of %i ms back of the clock of Redis, once for all coordinators',
    async (stepMs) => {
      const time = await bed.redis.time();
      const clock = { offMs: stepMs };
      // Two coordinators that read the clock before the step.
      const stepped = withClock(bed.redis, clock);
      const [first, second] = [createDeadlines(stepped), createDeadlines(stepped)];
      const before = [await first.due(100), await second.due(100)];
      const deadlineAt = Number(time[0]) * 1_000 + stepMs + 50_000;
      await bed.redis.zadd(redisKeys.deadlines, deadlineAt, 'under way');

      clock.offMs = 0;
      await first.due(100);
      await bed.redis.zadd(redisKeys.deadlines, deadlineAt, 'started by the second meanwhile');
      await second.due(100);
      await first.due(100);

      const scores = await bed.redis.zmscore(redisKeys.deadlines, 'under way', 'started by the second meanwhile');
      expect(Math.abs(Number(scores[0]) - Number(scores[1]))).toBeLessThan(60_000);
      const movedMs = deadlineAt - Number(await bed.redis.zscore(redisKeys.deadlines, 'under way'));
      expect(before.map(({ due }) => due)).toEqual([[], []]);
      expect(movedMs).toBeGreaterThan(stepMs - 60_000);
      expect(movedMs).toBeLessThanOrEqual(stepMs);
      await bed.redis.zrem(redisKeys.deadlines, 'under way', 'started by the second meanwhile');
    },
  );

  it('move again after a second step, whichever coordinator notices it first', async () => {
    const time = await bed.redis.time();
    const clock = { offMs: 3_600_000 };
    const stepped = withClock(bed.redis, clock);
    const [first, second, third] = [createDeadlines(stepped), createDeadlines(stepped), createDeadlines(stepped)];
    for (const deadlines of [first, second, third]) await deadlines.due(100);
    const deadlineAt = Number(time[0]) * 1_000 + 3_600_000 + 50_000;
    await bed.redis.zadd(redisKeys.deadlines, deadlineAt, 'under way');
    const movedMs = async (): Promise<number> =>
      deadlineAt - Number(await bed.redis.zscore(redisKeys.deadlines, 'under way'));

    clock.offMs = 2_400_000;
    await first.due(100);
    const afterOne = await movedMs();
    clock.offMs = 0;
    // The second coordinator has seen neither step until now; the third sees them after the other two have moved the
    // deadlines.
    await second.due(100);
    const afterTwo = await movedMs();
    await third.due(100);
    await first.due(100);
    const inTheEnd = await movedMs();
    await bed.redis.zrem(redisKeys.deadlines, 'under way');

    expect(afterOne).toBeGreaterThan(1_100_000);
    expect(afterOne).toBeLessThanOrEqual(1_200_000);
    expect(afterTwo).toBeGreaterThan(3_500_000);
    expect(afterTwo).toBeLessThanOrEqual(3_600_000);
    expect(inTheEnd - afterTwo).toBeLessThan(60_000);
  });

  it('move at the next look if Redis refused it, and tell the new time only then', async () => {
    const time = await bed.redis.time();
    const clock = { offMs: 3_600_000, refusesMoves: false };
    const deadlines = createDeadlines(withClock(bed.redis, clock));
    await deadlines.due(100);
    const deadlineAt = Number(time[0]) * 1_000 + 3_600_000 + 50_000;
    await bed.redis.zadd(redisKeys.deadlines, deadlineAt, 'under way');
    const movedMs = async (): Promise<number> =>
      deadlineAt - Number(await bed.redis.zscore(redisKeys.deadlines, 'under way'));

    Object.assign(clock, { offMs: 0, refusesMoves: true });
    const told = await Promise.allSettled([deadlines.due(100), deadlines.due(0)]);
    const atFirst = await movedMs();
    clock.refusesMoves = false;
    await Promise.all([deadlines.due(100), deadlines.due(0).then(async () => expect(await movedMs()).not.toBe(0))]);
    const inTheEnd = await movedMs();
    await bed.redis.zrem(redisKeys.deadlines, 'under way');

    expect(told.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(atFirst).toBe(0);
    expect(inTheEnd).toBeGreaterThan(3_500_000);
    expect(inTheEnd).toBeLessThanOrEqual(3_600_000);
  });

  it('lose a completed check soon after its last result', async () => {
    const core = bed.startCore();
    await until(async () => (await core.ready()).healthyProbes === 1);
    const creation = await core.checks.create({
      submittedHost: 'h',
      params: { host: 'h', options: { budget: 600_000 } },
      limit: 1,
      checkType: echo,
    });
    const id = creation.created ? creation.checkId : '';

    expect(await bed.redis.zscore(redisKeys.deadlines, id)).not.toBeNull();
    await report(bed.redis, 'fra-1', id, success('done'));
    await until(async () => (await bed.redis.zscore(redisKeys.deadlines, id)) === null);

    expect((await core.checks.read(id, 0, new AbortController().signal))?.status).toBe('completed');
  });
});

/**
 * A connection on which the clock of Redis is ahead by `clock.offMs` when a reply arrives, and which refuses to move
 * deadlines while `refusesMoves` is true.
 */
function withClock(connection: Redis, clock: { readonly offMs: number; readonly refusesMoves?: boolean }): Redis {
  return new Proxy(connection, {
    get: (redis, name) => {
      const value: unknown = Reflect.get(redis, name);
      if (typeof value !== 'function') return value;
      return async (...given: unknown[]): Promise<unknown> => {
        if (clock.refusesMoves === true && given.includes(CLOCK_STEP_MS)) throw new Error('READONLY');
        const reply: unknown = await value.apply(redis, given);
        if (!Array.isArray(reply) || !Array.isArray(reply[2])) return reply;
        const [seconds, ...rest] = reply as [string, ...unknown[]];
        return [String(Number(seconds) + clock.offMs / 1_000), ...rest];
      };
    },
  });
}

async function zremCalls(): Promise<number> {
  const stats = await bed.redis.info('commandstats');
  return Number(/^cmdstat_zrem:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
}
