/** Upper bound of the accepted probability of missing a successor of a vertex that balances evenly. */
export const RISK = 0.05;
/**
 * Accepted probability of missing a successor of a vertex with more than two: lower, because the search could also have
 * stopped too early at each smaller number.
 */
export const RISK_OF_MANY = 0.025;

/** Maximum number of successors of one vertex; no check has enough packets for more. */
const MOST_WAYS = 96;

/**
 * The stopping point n_k for k = `found`: samples after which a vertex with `found` successors counts as complete. If
 * it had one more, evenly used, this many samples would miss one of them with a probability of at most `risk`
 * (Augustin, Friedman, Teixeira: Multipath tracing with Paris traceroute, 2007). Infinity from `MOST_WAYS` on.
 */
export function stoppingPoint(found: number, risk = RISK): number {
  if (found >= MOST_WAYS) return Infinity;
  const known = points.get(risk) ?? [0];
  points.set(risk, known);
  while (known.length <= found) known.push(least(known.length + 1, risk));
  return known[found]!;
}

const points = new Map<number, number[]>();

/** The fewest samples that miss one of `ways` equally likely paths with a probability of at most `risk`. */
function least(ways: number, risk: number): number {
  // At index n: the probability that the samples so far took n different paths.
  let chances = [1, ...Array<number>(ways).fill(0)];
  for (let samples = 0; ; samples += 1) {
    if (1 - chances[ways]! <= risk) return samples;
    chances = chances.map(
      (chance, seen) => chance * (seen / ways) + (seen === 0 ? 0 : chances[seen - 1]! * (1 - (seen - 1) / ways)),
    );
  }
}
