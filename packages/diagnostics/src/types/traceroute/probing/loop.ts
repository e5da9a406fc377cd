export interface Loop {
  /** The first hop of the loop, from 1. */
  readonly start: number;
  readonly length: number;
  /** The hop at which the loop is proved. */
  readonly provedAt: number;
}

/**
 * Finds the first loop in a path. Two rounds prove a loop of two or more routers that all answer; with silent hops, or
 * a router twice in a round, it takes three; a single router must answer five times in a row, because some answer for
 * the next hop as well.
 *
 * @param path the router of each hop from 1 on, null where none answered
 */
export function findLoop(path: readonly (string | null)[]): Loop | null {
  const named = path.filter((router) => router !== null);
  if (new Set(named).size === named.length) return null;
  for (let start = 0; start < path.length; start += 1) {
    for (let length = 1; start + 2 * length <= path.length; length += 1) {
      const circle = path.slice(start, start + length);
      const routers = new Set(circle.filter((router) => router !== null));
      if (circle[0] === null || routers.size === 0) continue;
      const rounds = length === 1 ? 5 : routers.size === length ? 2 : 3;
      const end = start + rounds * length;
      if (end > path.length || (length > 1 && routers.size === 1 && !circle.includes(null))) continue;
      const goesRound = path.slice(start, end).every((router, index) => router === circle[index % length]);
      if (goesRound) return { start: start + 1, length, provedAt: end };
    }
  }
  return null;
}
