import type { Candidate, Kind, ProbePool } from './probe-pools.ts';

export interface SpreadOptions {
  readonly limit: number;
  readonly tieBreak?: ((probe: string) => number) | 'random';
  readonly ignoresLoad?: boolean;
}

/** How many selected probes are in each network, country and location. */
type Uses = Map<string | number, number>;

/** Context of the selection of one probe. */
interface Choice {
  readonly pool: ProbePool;
  readonly taken: ReadonlySet<Candidate>;
  readonly uses: Uses;
  readonly loadOf: (candidate: Candidate) => number;
  /** Order among equals; undefined for a random one. */
  readonly tieOf: ((candidate: Candidate) => number) | undefined;
}

interface Chosen {
  readonly kind: Kind;
  readonly candidate: Candidate;
}

/** Greedy selection: each step takes a probe whose network, country and location were used least. */
export function spread(pool: ProbePool, { limit, tieBreak, ignoresLoad = false }: SpreadOptions): readonly string[] {
  const taken = new Set<Candidate>();
  const uses: Uses = new Map();
  const tieOf = tieBreak === 'random' ? undefined : tiesOf(tieBreak);
  const loadOf = ignoresLoad ? () => 0 : ({ load }: Candidate) => load;
  while (taken.size < limit && taken.size < pool.size) {
    const { kind, candidate } = least({ pool, taken, uses, loadOf, tieOf });
    taken.add(candidate);
    for (const use of [kind.asNumber, kind.countryCode, ...placeTaken(kind, uses)]) {
      uses.set(use, (uses.get(use) ?? 0) + 1);
    }
  }
  return [...taken].map(({ id }) => id);
}

/** Memoizes the order per probe; called only if it decides. */
function tiesOf(tieBreak: ((probe: string) => number) | undefined): (candidate: Candidate) => number {
  const ties = new Map<Candidate, number>();
  return (candidate) => {
    const known = ties.get(candidate);
    if (known !== undefined) return known;
    const tie = tieBreak?.(candidate.id) ?? 0;
    ties.set(candidate, tie);
    return tie;
  };
}

/**
 * A probe in several locations counts for the least used one; otherwise large locations would take the probes of small
 * ones.
 */
function placeTaken({ places }: Kind, uses: Uses): readonly number[] {
  const usesOf = (place: number): number => uses.get(place) ?? 0;
  const emptiest = places.reduce<number | undefined>(
    (best, place) => (best === undefined || usesOf(place) < usesOf(best) ? place : best),
    undefined,
  );
  return emptiest === undefined ? [] : [emptiest];
}

/**
 * The candidate with the lowest rank. If equals are interchangeable, the search starts at random and stops at the
 * lowest possible rank.
 */
function least(choice: Choice): Chosen {
  const { pool, uses, loadOf, tieOf } = choice;
  const { kinds } = pool;
  const usesOf = (of: string | number): number => uses.get(of) ?? 0;
  const bound = lowest(pool, uses);
  const start = tieOf === undefined ? Math.floor(Math.random() * kinds.length) : 0;
  let best: Chosen | undefined;
  let [bestPlace, bestNetwork, bestCountry] = [0, 0, 0];
  for (let step = 0; step < kinds.length; step += 1) {
    const kind = kinds[(start + step) % kinds.length]!;
    // The requested location with the fewest selected probes comes first, so that all get the same share.
    const place = kind.places.length === 0 ? 0 : Math.min(...kind.places.map(usesOf));
    const [network, country] = [usesOf(kind.asNumber), usesOf(kind.countryCode)];
    const order =
      best === undefined
        ? -1
        : place - bestPlace ||
          kind.degraded - best.kind.degraded ||
          Math.min(network, 1) + Math.min(country, 1) - Math.min(bestNetwork, 1) - Math.min(bestCountry, 1) ||
          network + country - bestNetwork - bestCountry ||
          network - bestNetwork;
    if (order > 0) continue;
    const candidate = leastOf(kind, choice);
    if (candidate === undefined) continue;
    if (order === 0 && best !== undefined && !isBefore(candidate, best.candidate, choice)) continue;
    best = { kind, candidate };
    [bestPlace, bestNetwork, bestCountry] = [place, network, country];
    const isUsedLeast = place <= bound.place && network <= bound.network && country <= bound.country;
    if (tieOf === undefined && isUsedLeast && kind.degraded === 0 && loadOf(candidate) <= pool.leastLoad) break;
  }
  return best!;
}

/** The least loaded probe of a kind that is not selected. */
function leastOf({ candidates }: Kind, choice: Choice): Candidate | undefined {
  const { taken, loadOf, tieOf } = choice;
  const first = candidates.findIndex((candidate) => !taken.has(candidate));
  if (first < 0) return undefined;
  if (tieOf !== undefined) {
    return candidates.reduce((best, candidate) =>
      !taken.has(candidate) && (taken.has(best) || isBefore(candidate, best, choice)) ? candidate : best,
    );
  }
  const end = endOf(candidates, loadOf(candidates[first]!), loadOf);
  const start = first + Math.floor(Math.random() * (end - first));
  for (let index = start; index < end; index += 1) if (!taken.has(candidates[index]!)) return candidates[index];
  return candidates[first];
}

/** End of the run of candidates with that load; they are sorted by load. */
function endOf(candidates: readonly Candidate[], load: number, loadOf: Choice['loadOf']): number {
  let [low, high] = [0, candidates.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (loadOf(candidates[middle]!) <= load) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isBefore(one: Candidate, other: Candidate, { loadOf, tieOf }: Choice): boolean {
  const byLoad = loadOf(one) - loadOf(other);
  if (byLoad !== 0 || tieOf === undefined) return byLoad < 0;
  return (tieOf(one) - tieOf(other) || (one.id < other.id ? -1 : 1)) < 0;
}

/** Minimum use of any location, network and country in the pool. */
function lowest(
  { networks, countries, places }: ProbePool,
  uses: Uses,
): { readonly place: number; readonly network: number; readonly country: number } {
  const [ofPlaces, ofNetworks, ofCountries]: [number[], number[], number[]] = [[], [], []];
  for (const [of, count] of uses) {
    if (typeof of === 'number') ofPlaces.push(count);
    // A country has two letters, a network more: AS is American Samoa.
    else if (of.length > 2) ofNetworks.push(count);
    else ofCountries.push(count);
  }
  const lowestOf = (counts: readonly number[], all: number): number =>
    counts.length < all || all === 0 ? 0 : Math.min(...counts);
  return {
    place: lowestOf(ofPlaces, places),
    network: lowestOf(ofNetworks, networks),
    country: lowestOf(ofCountries, countries),
  };
}
