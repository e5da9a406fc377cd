import { describe, expect, it } from '@jest/globals';

import { disclosing, guessKeys, mostLookedUp } from './key-audit.ts';

/** Time limit; an idle machine needs a fraction of it. */
const WITHIN_MS = 180_000;
const GUESSES = 1_000;

describe('a disclosure', () => {
  it('is a text with the end of a secret, even without the prefix of keys', () => {
    const key = 'vtg_abcd1234_The-secret_of-this-key_0123456789';
    const disclosures = [`{"key":"${key}"}`, 'bearer The-secret_of-this-key_0123456789', 'of-this-key_0123456789.'];

    expect(disclosing([...disclosures, 'vtg_abcd1234_', 'this-key_012345678 9', ''], [key])).toEqual(disclosures);
  });
});

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
