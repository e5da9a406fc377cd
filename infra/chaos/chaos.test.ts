import { describe, it } from '@jest/globals';

import { expectKeptPromises } from './trial.ts';

// The other half is in `chaos-second-half.test.ts`, because files run in parallel.
describe('a service with two coordinators and two probes, whatever dies', () => {
  it('keeps every promise, in a short trial of each fault: first half', async () => {
    await expectKeptPromises('single', '1/2');
  }, 900_000);
});
