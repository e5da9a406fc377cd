import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { releaseMemoryAfterJobs } from './release-memory.ts';

const times = { afterMs: 1_000, againMs: 100, atLatestMs: 20_000 };

describe('the release of memory after jobs', () => {
  let released = 0;
  const release = (): void => void (released += 1);

  beforeEach(() => {
    released = 0;
    jest.useFakeTimers();
  });
  afterEach(() => void jest.useRealTimers());

  it('follows a series of jobs once, and no job no release', async () => {
    const run = releaseMemoryAfterJobs(release, times);
    jest.advanceTimersByTime(10_000);
    expect(released).toBe(0);

    await run(async () => undefined);
    jest.advanceTimersByTime(900);
    await run(async () => undefined);
    expect(released).toBe(0);
    jest.advanceTimersByTime(10_000);
    expect(released).toBe(1);

    await run(async () => undefined);
    jest.advanceTimersByTime(10_000);
    expect(released).toBe(2);
  });

  it('waits for a moment in which no job runs', async () => {
    const run = releaseMemoryAfterJobs(release, times);
    const { promise, resolve } = Promise.withResolvers<void>();
    const running = run(() => promise);
    jest.advanceTimersByTime(10_000);
    expect(released).toBe(0);

    resolve();
    await running;
    jest.advanceTimersByTime(100);
    expect(released).toBe(1);
  });

  it('waits for such a moment for a limited time', () => {
    const run = releaseMemoryAfterJobs(release, times);
    void run(() => new Promise(() => undefined));
    jest.advanceTimersByTime(20_900);
    expect(released).toBe(0);

    jest.advanceTimersByTime(100);
    expect(released).toBe(1);
  });

  it('counts a job that fails as ended', async () => {
    const run = releaseMemoryAfterJobs(release, times);
    await expect(run(() => Promise.reject(new Error('made up')))).rejects.toThrow('made up');
    jest.advanceTimersByTime(1_000);
    expect(released).toBe(1);
  });

  it('runs jobs on systems that cannot release memory', async () => {
    let ran = false;
    await releaseMemoryAfterJobs(undefined)(async () => void (ran = true));
    expect(ran).toBe(true);
  });
});
