import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Redis } from 'ioredis';

import { watchReplies } from './reply-watch.ts';

interface Sent {
  readonly name: string;
  isSettled: boolean;
  readonly reject: (error: Error) => void;
}

/** How long the process has stood still in all, milliseconds. */
let stoodStill: number;

/** The process stands still until after the next look is due, which then comes late. */
function standStill(milliseconds: number): void {
  stoodStill += milliseconds;
  jest.advanceTimersToNextTimer();
}

/** What ioredis keeps of a connection, and Redis behind it that answers when it is told to. */
function openFake(options: { readonly commandTimeout?: number; readonly socketTimeout: number }) {
  const queue: { command: Sent }[] = [];
  const rejected: string[] = [];
  const redis = {
    options,
    destroyed: undefined as string | undefined,
    stream: {
      bytesRead: 0,
      destroy: (error: Error) => {
        redis.destroyed ??= error.message;
      },
    },
    commandQueue: {
      get length() {
        return queue.length;
      },
      peekAt: (index: number) => queue[index],
    },
    sendCommand: (command: Sent) => {
      queue.push({ command });
    },
    setSocketTimeout: (): void => {
      throw new Error('The timer of ioredis itself was set.');
    },
  };
  watchReplies(redis as unknown as Redis);
  return {
    redis,
    rejected,
    send: (name: string): void => {
      const command = {
        name,
        isSettled: false,
        reject: (error: Error) => {
          command.isSettled = true;
          rejected.push(`${name}: ${error.message}`);
        },
      };
      redis.sendCommand(command);
      redis.setSocketTimeout();
    },
    answer: (): void => {
      queue.shift()!.command.isSettled = true;
      redis.stream.bytesRead += 5;
    },
  };
}

const limits = { commandTimeout: 1_500, socketTimeout: 2_000 };

describe('what a connection is owed', () => {
  beforeEach(() => {
    stoodStill = 0;
    jest.useFakeTimers();
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + stoodStill);
  });

  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('is waited for no longer than a command may take, each by itself', () => {
    const { send, rejected } = openFake(limits);
    send('first');
    jest.advanceTimersByTime(700);
    send('second');
    jest.advanceTimersByTime(799);
    const before = [...rejected];
    jest.advanceTimersByTime(101);
    const after = [...rejected];
    jest.advanceTimersByTime(700);

    expect(before).toEqual([]);
    expect(after).toEqual(['first: Command timed out']);
    expect(rejected).toEqual(['first: Command timed out', 'second: Command timed out']);
  });

  it('does not end what was answered in time, and is not looked at when nothing is owed', () => {
    const { redis, send, answer, rejected } = openFake(limits);
    for (let index = 0; index < 30; index += 1) {
      send(`command ${index}`);
      jest.advanceTimersByTime(200);
      answer();
    }
    jest.advanceTimersByTime(200);

    expect(rejected).toEqual([]);
    expect(redis.destroyed).toBeUndefined();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('ends a connection that owes a reply and says nothing', () => {
    const { redis, send } = openFake(limits);
    jest.advanceTimersByTime(60_000);
    send('first');
    jest.advanceTimersByTime(1_999);
    const before = redis.destroyed;
    jest.advanceTimersByTime(101);

    expect(before).toBeUndefined();
    expect(redis.destroyed).toContain('no data within 2000 ms');
  });

  it('keeps a connection that is slow with one reply and says something else meanwhile', () => {
    const { redis, send, rejected } = openFake({ socketTimeout: 5_000 });
    send('a wait');
    for (let index = 0; index < 20; index += 1) {
      jest.advanceTimersByTime(1_000);
      redis.stream.bytesRead += 1;
    }
    const before = redis.destroyed;
    jest.advanceTimersByTime(5_500);

    expect(before).toBeUndefined();
    expect(redis.destroyed).toContain('no data within 5000 ms');
    expect(rejected).toEqual([]);
  });

  it('may be late by the time in which the process stood still, and a while', () => {
    const { redis, send, answer, rejected } = openFake(limits);
    send('first');
    jest.advanceTimersByTime(1_450);
    standStill(1_900);
    jest.advanceTimersByTime(450);
    const before = [...rejected, redis.destroyed];
    answer();
    jest.advanceTimersByTime(3_000);

    expect(before).toEqual([undefined]);
    expect(rejected).toEqual([]);
  });

  it('is read first where it came while the process stood still for however long', () => {
    const { redis, send, answer, rejected } = openFake(limits);
    send('first');
    standStill(60_000);
    const before = [...rejected, redis.destroyed];
    answer();
    jest.advanceTimersByTime(100);

    expect(before).toEqual([undefined]);
    expect([...rejected, redis.destroyed]).toEqual([undefined]);
  });

  it('is given no more than two and a half seconds again, however often the process stands still', () => {
    const { send, rejected } = openFake(limits);
    const startedAt = performance.now();
    send('first');
    while (rejected.length === 0) standStill(60);

    expect(performance.now() - startedAt).toBeGreaterThan(3_000);
    expect(performance.now() - startedAt).toBeLessThan(4_500);
  });
});
