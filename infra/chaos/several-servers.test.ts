import { describe, it } from '@jest/globals';

import { expectKeptPromises } from './trial.ts';

const WITHIN_MS = 900_000;

describe('a service with several Redis servers, whatever dies', () => {
  // The trials run at the same time: each mostly waits for Redis to act.
  const trials = (['sentinel', 'cluster'] as const).map((store) => ({ store, run: expectKeptPromises(store) }));
  for (const { run } of trials) run.catch(() => undefined);

  it.each(trials)('keeps every promise, in a short trial of each fault: $store', ({ run }) => run, WITHIN_MS);
});
