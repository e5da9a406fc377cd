import { redisKeys } from '@vantage/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { createScreenshotQuota, type ScreenshotQuota } from './screenshot-quota.ts';

let bed: CoreBed;
let quota: ScreenshotQuota;
const KEPT_MS = 3_600_000;

beforeAll(async () => {
  bed = await startCoreBed();
});

afterAll(() => bed.stop());

beforeEach(async () => {
  await bed.redis.flushall();
  quota = createScreenshotQuota({ redis: bed.redis, maxBytes: 250, keptMs: KEPT_MS });
});

async function keep(id: string, bytes = 100, into = quota): Promise<void> {
  await bed.redis.set(redisKeys.checkScreenshot(id, 'p'), Buffer.alloc(bytes));
  await into.note(id, 'p', bytes);
  // Times are in milliseconds: two screenshots of the same millisecond have no order.
  const since = await now();
  await until(async () => (await now()) > since);
}

async function now(): Promise<number> {
  const [seconds, microseconds] = await bed.redis.time();
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}

async function kept(...ids: readonly string[]): Promise<readonly string[]> {
  const there = await Promise.all(ids.map((id) => bed.redis.exists(redisKeys.checkScreenshot(id, 'p'))));
  return ids.filter((_, index) => there[index] === 1);
}

describe('the quota for pictures', () => {
  it('keeps what fits', async () => {
    for (const id of ['a', 'b']) await keep(id);

    expect(await kept('a', 'b')).toEqual(['a', 'b']);
  });

  it('lets the oldest go, as many as it takes', async () => {
    for (const id of ['a', 'b', 'c']) await keep(id);
    expect(await kept('a', 'b', 'c')).toEqual(['b', 'c']);

    await keep('d', 200);

    expect(await kept('b', 'c', 'd')).toEqual(['d']);
    expect(await bed.redis.get(redisKeys.screenshotBytes)).toBe('200');
  });

  it('counts a screenshot once', async () => {
    await keep('a');
    for (let again = 0; again < 5; again += 1) await quota.note('a', 'p', 100);
    await keep('b');

    expect(await kept('a', 'b')).toEqual(['a', 'b']);
  });

  it('counts no longer what has expired, and is forgotten with the last', async () => {
    const short = createScreenshotQuota({ redis: bed.redis, maxBytes: 1_000, keptMs: 500 });
    await keep('a', 100, short);
    const writtenAt = await now();
    await until(async () => (await now()) > writtenAt + 250);
    await keep('b', 100, short);
    await until(async () => (await now()) > writtenAt + 550);
    await keep('c', 100, short);

    const notes = (await bed.redis.zrange(redisKeys.screenshotSizes, 0, '-1')).join();

    expect(notes).not.toContain('a p 100');
    await until(async () => (await bed.redis.exists(redisKeys.screenshotSizes, redisKeys.screenshotBytes)) === 0);
  });

  it('frees memory where it is short', async () => {
    await keep('a', 200);
    await bed.redis.config('SET', 'maxmemory', '1');
    try {
      await quota.note('b', 'p', 100);
    } finally {
      await bed.takeWrites();
    }

    expect(await kept('a')).toEqual([]);
  });
});
