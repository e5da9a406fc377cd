import { pick, seeded } from '@vantage/test-support/random/seeded';

/** A series of choices that a seed repeats. */
export interface Random {
  /** An integer of at least 0 and below the limit. */
  readonly below: (limit: number) => number;
  /** True with a probability from 0 to 1. */
  readonly chance: (share: number) => boolean;
  readonly pick: <T>(choices: readonly T[]) => T;
}

export function createRandom(seed: number): Random {
  const next = seeded(seed);
  return {
    below: (limit) => Math.floor(next() * limit),
    chance: (share) => next() < share,
    pick: (choices) => pick(next, choices),
  };
}
