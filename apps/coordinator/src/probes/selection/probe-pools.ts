import type { InputError, ProbeRecord } from '@vantage/contract';

import { absenceOf, isHealthy, type KnownProbe } from '../registry/probe-status.ts';
import { readLocations } from './locations.ts';

/** A probe that can be selected. */
export interface Candidate {
  readonly id: string;
  /** Used share of the probe's capacity. */
  readonly load: number;
}

/** A class of probes that are equivalent for a selection, except for their load. */
export interface Kind {
  readonly asNumber: string;
  readonly countryCode: string;
  /** Indices of the request's locations that contain them; the location with the fewest probes first. */
  readonly places: readonly number[];
  readonly degraded: number;
  /** Ordered by load, lowest first. */
  readonly candidates: readonly Candidate[];
}

/** The probes that support a type, in some locations. */
export interface ProbePool {
  readonly kinds: readonly Kind[];
  readonly size: number;
  /** Number of distinct networks, countries and locations. */
  readonly networks: number;
  readonly countries: number;
  readonly places: number;
  readonly leastLoad: number;
  /** All probes in the locations, whatever types they support. */
  readonly inPlaces: () => readonly KnownProbe[];
}

/** Caches pools while the probes are unchanged, and members of locations while the records are unchanged. */
export interface ProbePools {
  readonly of: (
    known: readonly KnownProbe[],
    type: string,
    locations: readonly string[],
    isEligible?: (probe: KnownProbe) => boolean,
  ) => ProbePool | { readonly errors: readonly InputError[] };
  readonly byId: (known: readonly KnownProbe[]) => ReadonlyMap<string, KnownProbe>;
}

/** Bounded, because clients choose the texts. */
const MOST_KEPT = 200;

/** Data derived from one read of the probes. */
interface Prepared {
  readonly records: readonly ProbeRecord[];
  readonly byId: ReadonlyMap<string, KnownProbe>;
  readonly pools: Map<string, ProbePool>;
}

export function createProbePools(): ProbePools {
  const prepared = new WeakMap<readonly KnownProbe[], Prepared>();
  /** Members of each location, in the order of `records`. */
  const members = new Map<string, readonly ProbeRecord[]>();
  let records: readonly ProbeRecord[] = [];

  const prepare = (known: readonly KnownProbe[]): Prepared => {
    const before = prepared.get(known);
    if (before !== undefined) return before;
    const byId = new Map(known.map((probe) => [probe.record.id, probe]));
    const made = { records: known.map(({ record }) => record), byId, pools: new Map<string, ProbePool>() };
    prepared.set(known, made);
    return made;
  };

  const membersOf = (given: readonly ProbeRecord[], location: string): readonly ProbeRecord[] | undefined => {
    if (given !== records) {
      // The cache is invalid if a record differs; unchanged records are identical objects.
      if (given.length !== records.length || given.some((record, index) => record !== records[index])) members.clear();
      records = given;
    }
    const known = members.get(location);
    if (known !== undefined) return known;
    const read = readLocations([location], given);
    if ('errors' in read) return undefined;
    const [terms = []] = read.locations;
    const found = given.filter((record) => terms.every((holds) => holds(record)));
    keep(members, location, found);
    return found;
  };

  return {
    byId: (known) => prepare(known).byId,
    of: (known, type, locations, isEligible) => {
      const { records: given, byId, pools } = prepare(known);
      const key = JSON.stringify([type, ...locations]);
      const kept = pools.get(key);
      if (kept !== undefined && isEligible === undefined) return kept;
      const places = locations.map((location) => membersOf(given, location));
      if (places.includes(undefined)) {
        const read = readLocations(locations, given);
        if ('errors' in read) return read;
      }
      const inPlaces = placesOf(
        byId,
        places.map((place) => place ?? []),
      );
      const all = places.length === 0 ? known : [...inPlaces.keys()];
      const pool = createPool(isEligible === undefined ? all : all.filter(isEligible), type, inPlaces);
      if (isEligible === undefined) keep(pools, key, pool);
      return pool;
    },
  };
}

/** The locations that contain each probe. */
function placesOf(
  byId: ReadonlyMap<string, KnownProbe>,
  places: readonly (readonly ProbeRecord[])[],
): ReadonlyMap<KnownProbe, readonly number[]> {
  const found = new Map<KnownProbe, number[]>();
  for (const [place, members] of places.entries()) {
    for (const { id } of members) {
      const probe = byId.get(id)!;
      const others = found.get(probe);
      if (others === undefined) found.set(probe, [place]);
      else others.push(place);
    }
  }
  return found;
}

function createPool(
  inPlaces: readonly KnownProbe[],
  type: string,
  places: ReadonlyMap<KnownProbe, readonly number[]>,
): ProbePool {
  const capable = inPlaces.filter((probe) => canRun(probe, type));
  const sizes = new Map<number, number>();
  for (const probe of capable) {
    for (const place of places.get(probe) ?? []) sizes.set(place, (sizes.get(place) ?? 0) + 1);
  }
  const kinds = kindsOf(capable, (probe) =>
    (places.get(probe) ?? []).toSorted((one, other) => sizes.get(one)! - sizes.get(other)!),
  );
  return {
    kinds,
    size: capable.length,
    places: sizes.size,
    inPlaces: () => inPlaces,
    networks: new Set(kinds.map(({ asNumber }) => asNumber)).size,
    countries: new Set(kinds.map(({ countryCode }) => countryCode)).size,
    leastLoad: kinds.reduce((least, { candidates }) => Math.min(least, candidates[0]!.load), Number.POSITIVE_INFINITY),
  };
}

function kindsOf(capable: readonly KnownProbe[], placesOf: (probe: KnownProbe) => readonly number[]): readonly Kind[] {
  const kinds = new Map<string, Kind & { readonly candidates: Candidate[] }>();
  for (const probe of capable) {
    const { id, asNumber, countryCode } = probe.record;
    const { running, capacity } = probe.heartbeat!.load;
    const [places, degraded] = [placesOf(probe), isHealthy(probe) ? 0 : 1];
    const key = [asNumber, countryCode, degraded, ...places].join(' ');
    const kind = kinds.get(key) ?? { asNumber, countryCode, places, degraded, candidates: [] };
    kinds.set(key, kind);
    kind.candidates.push({ id, load: running / capacity });
  }
  for (const { candidates } of kinds.values()) candidates.sort((one, other) => one.load - other.load);
  return [...kinds.values()];
}

function canRun(probe: KnownProbe, type: string): boolean {
  return absenceOf(probe) === undefined && (probe.heartbeat?.capabilities.types.includes(type) ?? false);
}

function keep<T>(kept: Map<string, T>, key: string, value: T): void {
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(key, value);
}
