import { endOf, type Candidate, type Kind, type ProbePool } from './pool.ts';

export interface SpreadOptions {
  readonly limit: number;
  readonly tieBreak?: ((probe: string) => number) | 'random';
  readonly ignoresLoad?: boolean;
  /** Which probes may be selected; all by default. */
  readonly isEligible?: ((probe: string) => boolean) | undefined;
}

/** How many selected probes are in each network, country and location. */
type Uses = Map<string | number, number>;

/** Context of the selection of one probe. */
interface Choice {
  readonly pool: ProbePool;
  readonly isFree: (candidate: Candidate) => boolean;
  readonly uses: Uses;
  readonly loadOf: (candidate: Candidate) => number;
  /** Order among equals; undefined for a random one. */
  readonly tieOf: ((candidate: Candidate) => number) | undefined;
}

interface Chosen {
  readonly kind: Kind;
  readonly candidate: Candidate;
}

/**
 * Greedy selection: each step takes the best remaining probe, by the use of its location, its health, the use of its
 * network and country, and its load.
 */
export function spread(pool: ProbePool, options: SpreadOptions): readonly string[] {
  const { limit, tieBreak, ignoresLoad = false, isEligible } = options;
  const taken = new Set<Candidate>();
  const isFree = (candidate: Candidate): boolean =>
    !taken.has(candidate) && (isEligible === undefined || isEligible(candidate.id));
  const uses: Uses = new Map();
  const tieOf = tieBreak === 'random' ? undefined : tiesOf(tieBreak);
  const loadOf = ignoresLoad ? () => 0 : ({ load }: Candidate) => load;
  while (taken.size < limit && taken.size < pool.size) {
    const chosen = least({ pool, isFree, uses, loadOf, tieOf });
    if (chosen === undefined) break;
    const { kind, candidate } = chosen;
    taken.add(candidate);
    for (const use of [kind.asNumber, kind.countryCode, ...placeTaken(kind, pool, uses)]) {
      uses.set(use, (uses.get(use) ?? 0) + 1);
    }
  }
  return [...taken].map(({ id }) => id);
}

/** Memoizes the tie-break value of each candidate, which is computed only if a comparison needs it. */
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
 * The location for which a probe counts: among several the least used one, among equals the one with the fewest probes;
 * otherwise large locations would take the probes of small ones.
 */
function placeTaken({ places }: Kind, { sizes }: ProbePool, uses: Uses): readonly number[] {
  const usesOf = (place: number): number => uses.get(place) ?? 0;
  const order = (one: number, other: number): number =>
    usesOf(one) - usesOf(other) || sizes.get(one)! - sizes.get(other)!;
  const emptiest = places.reduce<number | undefined>(
    (best, place) => (best === undefined || order(place, best) < 0 ? place : best),
    undefined,
  );
  return emptiest === undefined ? [] : [emptiest];
}

/**
 * The candidate with the lowest rank. If the order among equals is random, the search starts at a random kind and stops
 * at the lowest possible rank.
 *
 * @returns undefined if no probe is left
 */
function least(choice: Choice): Chosen | undefined {
  const { pool, uses, loadOf, tieOf } = choice;
  const { kinds } = pool;
  const usesOf = (of: string | number): number => uses.get(of) ?? 0;
  const bound = lowest(pool, uses);
  const start = tieOf === undefined ? Math.floor(Math.random() * kinds.length) : 0;
  let best: Chosen | undefined;
  // No destructured lists in this loop: their iterators would be garbage.
  let bestPlace = 0;
  let bestNetwork = 0;
  let bestCountry = 0;
  for (let step = 0; step < kinds.length; step += 1) {
    const kind = kinds[(start + step) % kinds.length]!;
    // The requested location with the fewest selected probes comes first, so that all get the same share.
    const place = kind.places.length === 0 ? 0 : Math.min(...kind.places.map(usesOf));
    const network = usesOf(kind.asNumber);
    const country = usesOf(kind.countryCode);
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
    bestPlace = place;
    bestNetwork = network;
    bestCountry = country;
    const isUsedLeast = place <= bound.place && network <= bound.network && country <= bound.country;
    if (tieOf === undefined && isUsedLeast && kind.degraded === 0 && loadOf(candidate) <= pool.leastLoad) break;
  }
  return best;
}

/** The least loaded free probe of a kind; undefined if none is free. */
function leastOf({ candidates }: Kind, choice: Choice): Candidate | undefined {
  const { isFree, loadOf, tieOf } = choice;
  const first = candidates.findIndex(isFree);
  if (first < 0) return undefined;
  let best = candidates[first]!;
  if (tieOf !== undefined) {
    for (let index = first + 1; index < candidates.length; index += 1) {
      const candidate = candidates[index]!;
      if (isBefore(candidate, best, choice) && isFree(candidate)) best = candidate;
    }
    return best;
  }
  const end = endOf(candidates, loadOf(best), loadOf);
  const start = first + Math.floor(Math.random() * (end - first));
  for (let index = start; index < end; index += 1) if (isFree(candidates[index]!)) return candidates[index];
  return best;
}

function isBefore(one: Candidate, other: Candidate, { loadOf, tieOf }: Choice): boolean {
  const byLoad = loadOf(one) - loadOf(other);
  if (byLoad !== 0 || tieOf === undefined) return byLoad < 0;
  return (tieOf(one) - tieOf(other) || (one.id < other.id ? -1 : 1)) < 0;
}

/** Minimum use of any location, network and country in the pool. */
function lowest(
  { networks, countries, sizes }: ProbePool,
  uses: Uses,
): { readonly place: number; readonly network: number; readonly country: number } {
  const ofPlaces = leastUse();
  const ofNetworks = leastUse();
  const ofCountries = leastUse();
  uses.forEach((count, of) => {
    // A country code has two letters, a network (`AS<digits>`) more: `AS` alone is American Samoa.
    const all = typeof of === 'number' ? ofPlaces : of.length > 2 ? ofNetworks : ofCountries;
    all.known += 1;
    all.least = Math.min(all.least, count);
  });
  const lowestOf = ({ known, least: count }: LeastUse, all: number): number => (known < all || all === 0 ? 0 : count);
  return {
    place: lowestOf(ofPlaces, sizes.size),
    network: lowestOf(ofNetworks, networks),
    country: lowestOf(ofCountries, countries),
  };
}

/**
 * Number of locations, networks or countries with selected probes, and the lowest number of selected probes in any of
 * them.
 */
interface LeastUse {
  known: number;
  least: number;
}

function leastUse(): LeastUse {
  return { known: 0, least: Number.POSITIVE_INFINITY };
}
