import { describe, expect, it } from '@jest/globals';

import { guessKeys, mostLookedUp } from './key-audit.ts';

/** Time limit; an idle machine needs a fraction of it. */
const WITHIN_MS = 180_000;
const GUESSES = 1_000;

describe('guessing API keys from one address', () => {
  it(
    'is limited, finds nothing, delays no holder of a key, and leaves no secret in the log',
    async () => {
      const startedAt = performance.now();

      const { lookedUp, longestMs, ...seen } = await guessKeys(GUESSES);

      expect(seen).toEqual({ guesses: GUESSES, accepted: 0, rightRefused: 0, disclosures: [], serverErrors: 0 });
      expect(lookedUp).toBeGreaterThan(0);
      expect(lookedUp).toBeLessThanOrEqual(mostLookedUp((performance.now() - startedAt) / 60_000));
      expect(longestMs).toBeGreaterThan(0);
    },
    WITHIN_MS,
  );
});
