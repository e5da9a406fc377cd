import { getEventListeners } from 'node:events';

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { pause } from './pause.ts';

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

describe('a pause', () => {
  it('ends after its time, not before', async () => {
    let hasEnded = false;
    const paused = pause(100).then(() => (hasEnded = true));
    await jest.advanceTimersByTimeAsync(99);
    const before = hasEnded;
    await jest.advanceTimersByTimeAsync(1);
    await paused;

    expect(before).toBe(false);
  });

  it('ends when the signal aborts, and leaves neither a timer nor a listener', async () => {
    const { signal, abort } = cancellation();
    const paused = pause(60_000, signal);
    const during = getEventListeners(signal, 'abort').length;
    abort();
    await paused;

    expect([during, getEventListeners(signal, 'abort').length, jest.getTimerCount()]).toEqual([1, 0, 0]);
  });

  it('leaves no listener after its time either', async () => {
    const { signal } = cancellation();
    const paused = pause(10, signal);
    await jest.advanceTimersByTimeAsync(10);
    await paused;

    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('is none where the signal has aborted', async () => {
    await pause(60_000, AbortSignal.abort());

    expect(jest.getTimerCount()).toBe(0);
  });
});

function cancellation(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
