import { createSocket } from 'node:dgram';
import { once } from 'node:events';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { standStill } from '@vantage/test-support/stand-still';
import { readFirstTimer } from './read-first-timer.ts';

let [sender, receiver] = [createSocket('udp4'), createSocket('udp4')];

beforeEach(async () => {
  [sender, receiver] = [createSocket('udp4'), createSocket('udp4')];
  receiver.bind(0, '127.0.0.1');
  await once(receiver, 'listening');
});

afterEach(() => {
  sender.close();
  receiver.close();
});

describe('a timer that reads first', () => {
  it('runs out after what had come while the process stood still', async () => {
    const order: string[] = [];
    receiver.on('message', () => order.push('message'));
    const { port } = receiver.address();
    await new Promise((resolve) => sender.send('x', port, '127.0.0.1', resolve));
    const over = new Promise<void>((resolve) => {
      readFirstTimer(() => {
        order.push('timer');
        resolve();
      }, 10);
    });

    standStill(100);
    await over;

    expect(order).toEqual(['message', 'timer']);
  });

  it('can be stopped before it is due, and when it is about to act', async () => {
    const acted: string[] = [];
    const stop = [readFirstTimer(() => acted.push('long'), 60_000), readFirstTimer(() => acted.push('due'), 1)];
    // Of two timers that are due at the same time, the one set first fires first; it acts only in the check phase.
    const stopped = new Promise<void>((resolve) => {
      setTimeout(() => {
        for (const one of stop) one();
        resolve();
      }, 1);
    });

    standStill(50);
    await stopped;
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));

    expect(acted).toEqual([]);
  });
});
