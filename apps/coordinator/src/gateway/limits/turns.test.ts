import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';

import { createTurns } from './turns.ts';

describe('turns', () => {
  it('run as many pieces of work as they may in each turn of the event loop, in order', async () => {
    const turns = createTurns(2);
    const done: number[] = [];
    for (let number = 1; number <= 5; number += 1) turns.add(() => done.push(number));
    const seen: number[] = [done.length];
    for (let count = 0; count < 3; count += 1) {
      await turn();
      seen.push(done.length);
    }
    turns.add(() => done.push(6));
    await turn();

    expect(seen).toEqual([0, 2, 4, 5]);
    expect(done).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
