/** A series of choices that a seed repeats. */
export interface Random {
  /** An integer of at least 0 and below the limit. */
  readonly below: (limit: number) => number;
  /** True with a probability from 0 to 1. */
  readonly chance: (share: number) => boolean;
  readonly pick: <T>(choices: readonly T[]) => T;
}

/** Seeded random numbers (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    below,
    chance: (share) => next() < share,
    pick: (choices) => {
      if (choices.length === 0) throw new RangeError('there is nothing to pick from');
      return choices[below(choices.length)]!;
    },
  };
}
