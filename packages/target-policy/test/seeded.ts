/**
 * Pseudo-random numbers, the same in every run.
 *
 * @returns a function that returns the next integer from 0 to below its argument
 */
export function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return Math.floor((state / 2_147_483_647) * below);
  };
}
