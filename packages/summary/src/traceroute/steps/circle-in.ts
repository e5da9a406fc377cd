/** Number of times that the same two or more routers must answer in the same order to prove a routing loop. */
const ROUNDS = 2;

/** The first routing loop of two or more routers in a path; empty without one. */
export function circleIn<Hop>(path: readonly (Hop | null)[]): readonly Hop[] {
  for (let start = 0; start < path.length; start += 1) {
    for (let length = 2; start + ROUNDS * length <= path.length; length += 1) {
      const circle = path.slice(start, start + length).filter((hop) => hop !== null);
      const isRound = path
        .slice(start, start + ROUNDS * length)
        .every((hop, index) => hop === path[start + (index % length)]);
      if (isRound && new Set(circle).size === length) return circle;
    }
  }
  return [];
}
