import { describe, expect, it } from '@jest/globals';

import { turns } from './turns.ts';

const signal = new AbortController().signal;

describe('turns', () => {
  it('come one after the other, in the order of asking', async () => {
    const queue = turns(1, 2);
    const order: string[] = [];
    const end = await queue.take(signal);
    const second = queue.take(signal).then((turn) => (order.push('second'), turn));
    const third = queue.take(signal).then((turn) => (order.push('third'), turn));

    expect([queue.running(), queue.waiting()]).toEqual([1, 2]);
    (end as () => void)();
    ((await second) as () => void)();
    await third;

    expect(order).toEqual(['second', 'third']);
    expect([queue.running(), queue.waiting()]).toEqual([1, 0]);
  });

  it('are refused when the queue is full, and when time is up', async () => {
    const queue = turns(1, 1);
    const over = new AbortController();
    await queue.take(signal);
    const waiting = queue.take(over.signal);

    expect(await queue.take(signal)).toBe('full');
    over.abort();

    expect(await waiting).toBe('aborted');
    expect(await queue.take(over.signal)).toBe('aborted');
    expect(queue.waiting()).toBe(0);
  });
});
