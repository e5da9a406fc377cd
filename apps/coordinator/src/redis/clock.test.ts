import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Redis } from 'ioredis';

import { createRedisClock } from './clock.ts';

/** Offset of the clock of Redis from the monotonic clock of this process. */
const AHEAD_MS = 1_800_000_000_000;

/** A fake Redis that replies to `TIME` at once. */
function answering(): Redis & { readonly asked: () => number } {
  let asked = 0;
  const time = async (): Promise<[string, string]> => {
    asked += 1;
    const nowMs = AHEAD_MS + performance.now();
    return [String(Math.floor(nowMs / 1_000)), String(Math.round((nowMs % 1_000) * 1_000))];
  };
  return { time, asked: () => asked } as unknown as Redis & { readonly asked: () => number };
}

const truth = (): number => Math.round(AHEAD_MS + performance.now());

describe('the clock of Redis', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('is asked once, and carried forward for some seconds', async () => {
    const [clock, redis] = [createRedisClock(), answering()];
    await clock.now(redis);
    jest.advanceTimersByTime(4_000);

    expect(await clock.now(redis)).toBe(truth());
    expect(redis.asked()).toBe(1);
    jest.advanceTimersByTime(2_000);
    expect(await clock.now(redis)).toBe(truth());
    expect(redis.asked()).toBe(2);
  });

  it('is not taken from an answer that was held up while a better one is known', async () => {
    const [clock, redis] = [createRedisClock(), answering()];
    await clock.now(redis);
    const sentAt = performance.now();
    const told = truth();
    jest.advanceTimersByTime(1_500);
    clock.observe(told, sentAt);

    expect(await clock.now(redis)).toBe(truth());
  });

  it('goes back only by what was observed, not by what it asks itself', async () => {
    const [clock, redis] = [createRedisClock(), answering()];
    clock.observe(truth() + 3_600_000, performance.now());
    jest.advanceTimersByTime(6_000);

    expect(await clock.now(redis)).toBe(truth() + 3_600_000);
    expect(redis.asked()).toBe(1);
    clock.observe(truth(), performance.now());
    expect(await clock.now(redis)).toBe(truth());
  });

  it('is taken from an answer that was held up where nothing better is known, or where it says otherwise', async () => {
    const [unknowing, knowing, redis] = [createRedisClock(), createRedisClock(), answering()];
    await knowing.now(redis);
    const sentAt = performance.now();
    const told = truth();
    jest.advanceTimersByTime(1_000);
    unknowing.observe(told, sentAt);
    // Simulates a failover to a server with a wrong clock.
    knowing.observe(told + 60_000, sentAt);

    expect(await unknowing.now(redis)).toBe(truth() - 500);
    expect(await knowing.now(redis)).toBe(truth() + 59_500);
  });
});
