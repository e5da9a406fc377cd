import { describe, expect, it } from '@jest/globals';

import { gatewayAttacks } from './attacks.ts';
import { attackGateway, MOST_VERIFIED } from './index.ts';

const WITHIN_MS = 180_000;

describe('tokens guessed at a gateway from one address', () => {
  it(
    'are limited before any cryptography, and refuse nothing to others',
    async () => {
      const guesses = gatewayAttacks.filter(({ name }) => name.startsWith('tokens guessed'));

      const [quiet, attacked] = await attackGateway(3, guesses);

      expect(quiet).toMatchObject({ refused: 0, verified: undefined });
      expect(attacked!.refused).toBe(0);
      expect(attacked!.verified).toBeGreaterThan(0);
      expect(attacked!.verified).toBeLessThanOrEqual(MOST_VERIFIED);
    },
    WITHIN_MS,
  );
});
