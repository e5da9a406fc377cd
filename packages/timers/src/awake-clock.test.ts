import { describe, expect, it } from '@jest/globals';

import { standStill } from '@vantage/test-support/stand-still';
import { inVirtualTime } from '@vantage/test-support/virtual-time';
import { awakeClock, awakeTimer } from './awake-clock.ts';

describe('an awake clock', () => {
  it('stands still while the process does', () => {
    const clock = awakeClock();
    const before = clock.now();
    standStill(500);
    const passedMs = clock.now() - before;
    clock.stop();

    expect(passedMs).toBeGreaterThanOrEqual(0);
    expect(passedMs).toBeLessThan(400);
  });

  it('goes as fast as any other where nothing stands still', async () => {
    const passedMs = await inVirtualTime(async () => {
      const clock = awakeClock();
      const before = clock.now();
      await new Promise((resolve) => setTimeout(resolve, 10_000));
      clock.stop();
      return clock.now() - before;
    });

    expect(passedMs).toBe(10_000);
  });
});

describe('an awake timer', () => {
  it('acts after its time', async () => {
    const passedMs = await inVirtualTime(async () => {
      const before = performance.now();
      await new Promise<void>((resolve) => awakeTimer(resolve, 700));
      return performance.now() - before;
    });

    expect(passedMs).toBeGreaterThanOrEqual(699);
    expect(passedMs).toBeLessThan(750);
  });

  it('does not count the time in which the process stood still', async () => {
    const order: string[] = [];
    const both = Promise.all([
      new Promise<void>((resolve) => awakeTimer(() => resolve(void order.push('awake')), 200)),
      new Promise<void>((resolve) => setTimeout(() => resolve(void order.push('plain')), 300)),
    ]);
    standStill(400);
    await both;

    expect(order).toEqual(['plain', 'awake']);
  });

  it('does not act once it is stopped', async () => {
    const acted: number[] = [];
    await inVirtualTime(async () => {
      const stops = [0, 100, 300].map((ms) => awakeTimer(() => acted.push(ms), ms));
      await new Promise((resolve) => setTimeout(resolve, 200));
      for (const stop of stops) stop();
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    });

    expect(acted).toEqual([0, 100]);
  });
});
