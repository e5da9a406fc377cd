import { getEventListeners } from 'node:events';

import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { linkSignal } from './link-signal.ts';

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

describe('a linked signal', () => {
  it('aborts with the other one, for its reason', () => {
    const other = new AbortController();
    const { signal } = linkSignal(other.signal);
    const before = signal.aborted;
    other.abort('enough');

    expect([before, signal.aborted, signal.reason]).toEqual([false, true, 'enough']);
  });

  it('has aborted from the start if the other one has', () => {
    const { signal } = linkSignal(AbortSignal.abort('enough'), 60_000);

    expect([signal.aborted, signal.reason, jest.getTimerCount()]).toEqual([true, 'enough', 0]);
  });

  it('aborts after its time, not before', () => {
    const { signal } = linkSignal(new AbortController().signal, 100);
    jest.advanceTimersByTime(99);
    const before = signal.aborted;
    jest.advanceTimersByTime(1);

    expect([before, signal.aborted]).toEqual([false, true]);
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
  });

  it.each(['abort', 'release'] as const)('leaves neither a timer nor a listener after %s', (way) => {
    const other = new AbortController();
    const linked = linkSignal(other.signal, 100);
    const during = [getEventListeners(other.signal, 'abort').length, jest.getTimerCount()];
    linked[way]();
    const after = [getEventListeners(other.signal, 'abort').length, jest.getTimerCount()];

    expect([during, after, linked.signal.aborted]).toEqual([[1, 1], [0, 0], way === 'abort']);
  });

  it('leaves no listener after its time', () => {
    const other = new AbortController();
    linkSignal(other.signal, 100);
    jest.advanceTimersByTime(100);

    expect(getEventListeners(other.signal, 'abort')).toHaveLength(0);
  });
});
