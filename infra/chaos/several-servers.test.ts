import { describe, it } from '@jest/globals';

import { expectKeptPromises } from './trial.ts';

describe('a service with several Redis servers, whatever dies', () => {
  it.each(['sentinel', 'cluster'] as const)(
    'keeps every promise, in a short trial of each fault: %s',
    async (store) => {
      await expectKeptPromises(store);
    },
    900_000,
  );
});
