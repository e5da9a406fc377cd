import { describe, it } from '@jest/globals';

import { expectKeptPromises } from './trial.ts';

// The first half is in `chaos.test.ts`, because files run in parallel.
describe('a service with two coordinators and two probes, whatever dies', () => {
  it('keeps every promise, in a short trial of each fault: second half', async () => {
    await expectKeptPromises('single', '2/2');
  }, 900_000);
});
