import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';

import { inTime } from './within.ts';

const late = (): Error => new Error('late');

describe('inTime', () => {
  it('gives what the work gives, and what it throws', async () => {
    await expect(inTime(Promise.resolve('done'), 10_000, late)).resolves.toBe('done');
    await expect(inTime(Promise.reject(new Error('broken')), 10_000, late)).rejects.toThrow('broken');
  });

  it('does not wait for work that does not end', async () => {
    await expect(inTime(new Promise(() => undefined), 10, late)).rejects.toThrow('late');
  });

  it('lets the work end that was held up by the process itself', async () => {
    const work = sleep(20, 'done');
    const waited = inTime(work, 10, late);
    const until = performance.now() + 300;
    while (performance.now() < until);

    await expect(waited).resolves.toBe('done');
  });
});
