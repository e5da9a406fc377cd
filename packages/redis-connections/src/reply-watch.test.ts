import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Redis } from 'ioredis';

import { useStallingClock, type StallingClock } from '@vantage/test-support/stalling-clock';
import { watchReplies } from './reply-watch.ts';

interface Sent {
  readonly name: string;
  isSettled: boolean;
  readonly reject: (error: Error) => void;
}

let clock: StallingClock;

class Waiting {
  readonly items: { command: Sent }[] = [];

  get length(): number {
    return this.items.length;
  }

  peekAt(index: number): { command: Sent } | undefined {
    return this.items[index];
  }
}

/** The state of an ioredis connection, and a Redis that replies on demand. */
function openFake(options: { readonly commandTimeout?: number; readonly socketTimeout: number }) {
  const rejected: string[] = [];
  const newStream = () => ({
    bytesRead: 0,
    writableEnded: false,
    destroy: (error: Error) => {
      redis.destroyed ??= error.message;
    },
  });
  const redis = {
    options,
    status: 'ready',
    destroyed: undefined as string | undefined,
    stream: newStream(),
    commandQueue: new Waiting(),
    offlineQueue: new Waiting(),
    sendCommand: (command: Sent) => {
      const queue = redis.status === 'ready' ? redis.commandQueue : redis.offlineQueue;
      queue.items.push({ command });
    },
    setSocketTimeout: (): void => {
      throw new Error('The timer of ioredis itself was set.');
    },
  };
  watchReplies(redis as unknown as Redis);
  return {
    redis,
    rejected,
    /** Simulates the loss of the connection, which is being established again. */
    reconnect: (): void => {
      redis.status = 'connecting';
      redis.stream = newStream();
    },
    send: (name: string): Sent => {
      const command: Sent = {
        name,
        isSettled: false,
        reject: (error: Error) => {
          command.isSettled = true;
          rejected.push(`${name}: ${error.message}`);
        },
      };
      redis.sendCommand(command);
      redis.setSocketTimeout();
      return command;
    },
    answer: (): void => {
      redis.commandQueue.items.shift()!.command.isSettled = true;
      redis.stream.bytesRead += 5;
    },
  };
}

const limits = { commandTimeout: 1_500, socketTimeout: 2_000 };

describe('what a connection is owed', () => {
  beforeEach(() => {
    clock = useStallingClock();
  });

  afterEach(() => {
    clock.restore();
  });

  it('has its own timeout of a command', () => {
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

  it('does not end a connection that is being made for what the last one left unanswered', () => {
    const { redis, send, reconnect } = openFake({ socketTimeout: 5_000 });
    send('first');
    jest.advanceTimersByTime(1_000);
    reconnect();
    jest.advanceTimersByTime(60_000);
    const meanwhile = redis.destroyed;
    redis.commandQueue.items.length = 0;
    redis.status = 'ready';
    send('first, again');
    jest.advanceTimersByTime(4_900);
    const before = redis.destroyed;
    jest.advanceTimersByTime(600);

    expect([meanwhile, before]).toEqual([undefined, undefined]);
    expect(redis.destroyed).toContain('no data within 5000 ms');
  });

  it('ends a connection that is being closed with replies owed as soon as any other', () => {
    const { redis, send } = openFake(limits);
    send('first');
    jest.advanceTimersByTime(1_600);
    // After a login timeout, ioredis rejects all pending commands first.
    redis.commandQueue.items.length = 0;
    redis.stream.writableEnded = true;
    jest.advanceTimersByTime(500);

    expect(redis.destroyed).toContain('no data within 2000 ms');
  });

  it('is counted from when it was asked for first, wherever it is sent again', () => {
    const { redis, send, answer, rejected } = openFake(limits);
    const command = send('moved');
    for (let index = 0; index < 3; index += 1) {
      jest.advanceTimersByTime(400);
      answer();
      command.isSettled = false;
      redis.sendCommand(command);
    }
    const before = [...rejected];
    jest.advanceTimersByTime(400);

    expect(before).toEqual([]);
    expect(rejected).toEqual(['moved: Command timed out']);
  });

  it('is not waited for any longer where it still waits for a connection', () => {
    const { send, rejected, reconnect } = openFake(limits);
    reconnect();
    send('first');
    jest.advanceTimersByTime(1_499);
    const before = [...rejected];
    jest.advanceTimersByTime(101);

    expect(before).toEqual([]);
    expect(rejected).toEqual(['first: Command timed out']);
  });

  it('may be late by the time in which the process stood still, and a while', () => {
    const { redis, send, answer, rejected } = openFake(limits);
    send('first');
    jest.advanceTimersByTime(1_450);
    clock.standStill(1_900);
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
    clock.standStill(60_000);
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
    while (rejected.length === 0) clock.standStill(60);

    expect(performance.now() - startedAt).toBeGreaterThan(3_000);
    expect(performance.now() - startedAt).toBeLessThan(4_500);
  });
});
