import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { pollAbandoned } from './abandoned.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('a watch for an abandoned check', () => {
  it('calls back once, if replies of two reads come together', async () => {
    const reply = Promise.withResolvers<boolean>();
    const listener = jest.fn();
    pollAbandoned(() => reply.promise)('check', listener);
    jest.advanceTimersByTime(2_000);
    reply.resolve(true);
    await reply.promise;

    expect(listener).toHaveBeenCalledTimes(1);
  });

  it('does not call back after its end', async () => {
    const reply = Promise.withResolvers<boolean>();
    const listener = jest.fn();
    const stop = pollAbandoned(() => reply.promise)('check', listener);
    jest.advanceTimersByTime(1_000);
    stop();
    reply.resolve(true);
    await reply.promise;

    expect(listener).not.toHaveBeenCalled();
  });
});
