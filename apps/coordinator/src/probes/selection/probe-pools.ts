import type { InputError, ProbeRecord } from '@vantage/contract';

import type { KnownProbe } from '../registry/probe-status.ts';
import { readLocations } from './locations.ts';
import { FollowingPool, type ProbePool } from './pool.ts';

export interface PoolInPlaces {
  readonly pool: ProbePool;
  /** All probes in the locations, whatever types they support. */
  readonly inPlaces: () => readonly KnownProbe[];
}

/** Keeps pools, which follow the probes while the records are unchanged. */
export interface ProbePools {
  readonly of: (
    known: readonly KnownProbe[],
    type: string,
    locations: readonly string[],
  ) => PoolInPlaces | { readonly errors: readonly InputError[] };
  readonly byId: (known: readonly KnownProbe[]) => ReadonlyMap<string, KnownProbe>;
}

/** Maximum number of cached pools, and of cached locations: clients choose the texts. */
const MOST_KEPT = 200;

interface KeptPool {
  readonly pool: FollowingPool;
  /** Indices of the probes in the locations of the pool. */
  readonly indices: readonly number[];
  /** The list of probes up to which the pool is current. */
  known: readonly KnownProbe[];
}

export function createProbePools(): ProbePools {
  return new Pools();
}

class Pools implements ProbePools {
  private known: readonly KnownProbe[] = [];
  private records: readonly ProbeRecord[] = [];
  private readonly found = new Map<string, KnownProbe>();
  /** Indices of the members of each location. */
  private readonly members = new Map<string, readonly number[]>();
  private readonly pools = new Map<string, KeptPool>();

  readonly byId: ProbePools['byId'] = (known) => {
    this.follow(known);
    return this.found;
  };

  readonly of: ProbePools['of'] = (known, type, locations) => {
    this.follow(known);
    const key = JSON.stringify([type, ...locations]);
    let kept = this.pools.get(key);
    if (kept === undefined) {
      const places = locations.map((location) => this.membersOf(location));
      if (places.includes(undefined)) {
        const read = readLocations(locations, this.records);
        if ('errors' in read) return read;
      }
      kept = this.create(
        type,
        places.map((place) => place ?? []),
      );
      keep(this.pools, key, kept);
    }
    const { pool, indices } = kept;
    // The list is the same for all requests between two reads of the probes.
    if (kept.known !== known) {
      for (const index of indices) if (known[index] !== kept.known[index]) pool.take(known[index]!);
      kept.known = known;
    }
    return { pool, inPlaces: () => indices.map((index) => known[index]!) };
  };

  /** Follows a new list of probes; all pools are discarded only if a record differs. */
  private follow(known: readonly KnownProbe[]): void {
    if (known === this.known) return;
    const before = this.known;
    this.known = known;
    const { records } = this;
    if (known.length !== records.length || known.some(({ record }, index) => record !== records[index])) {
      this.records = known.map(({ record }) => record);
      this.members.clear();
      this.pools.clear();
      this.found.clear();
      for (const probe of known) this.found.set(probe.record.id, probe);
      return;
    }
    for (const [index, probe] of known.entries()) if (probe !== before[index]) this.found.set(probe.record.id, probe);
  }

  private membersOf(location: string): readonly number[] | undefined {
    const known = this.members.get(location);
    if (known !== undefined) return known;
    const read = readLocations([location], this.records);
    if ('errors' in read) return undefined;
    const [terms = []] = read.locations;
    const found = this.records.flatMap((record, index) => (terms.every((holds) => holds(record)) ? [index] : []));
    keep(this.members, location, found);
    return found;
  }

  /** @param places indices of the members of each location; none for all probes */
  private create(type: string, places: readonly (readonly number[])[]): KeptPool {
    const found = new Map<string, number[]>();
    const indices = new Set<number>();
    for (const [place, members] of places.entries()) {
      for (const index of members) {
        indices.add(index);
        const { id } = this.records[index]!;
        const others = found.get(id);
        if (others === undefined) found.set(id, [place]);
        else others.push(place);
      }
    }
    return {
      pool: new FollowingPool(type, (id) => found.get(id) ?? []),
      indices: places.length === 0 ? [...this.records.keys()] : [...indices],
      known: [],
    };
  }
}

function keep<T>(kept: Map<string, T>, key: string, value: T): void {
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(key, value);
}
