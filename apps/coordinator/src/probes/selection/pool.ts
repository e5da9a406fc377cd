import { absenceOf, isHealthy, type KnownProbe } from '../registry/probe-status.ts';

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
  /** Indices of the request's locations that contain the probes of this class. */
  readonly places: readonly number[];
  readonly degraded: number;
  /** Ordered by load, lowest first; never empty. */
  readonly candidates: readonly Candidate[];
}

/** The probes that can run a type now, in some locations or all. */
export interface ProbePool {
  readonly kinds: readonly Kind[];
  readonly size: number;
  /** Number of distinct networks and countries. */
  readonly networks: number;
  readonly countries: number;
  /** Number of probes in each location that has any. */
  readonly sizes: ReadonlyMap<number, number>;
  readonly leastLoad: number;
}

interface OpenKind extends Kind {
  readonly key: string;
  readonly candidates: Candidate[];
}

interface Member {
  readonly kind: OpenKind;
  readonly candidate: Candidate;
}

/** A pool that follows changes of its probes, so that it need not be built again. */
export class FollowingPool implements ProbePool {
  private readonly type: string;
  private readonly placesOf: (id: string) => readonly number[];
  private readonly members = new Map<string, Member>();
  private readonly byKey = new Map<string, OpenKind>();
  private derived: Omit<ProbePool, 'size' | 'sizes' | 'leastLoad'> | undefined;
  private load: number | undefined;
  readonly sizes = new Map<number, number>();

  /** @param placesOf indices of the locations that contain a probe; they never change */
  constructor(type: string, placesOf: (id: string) => readonly number[]) {
    this.type = type;
    this.placesOf = placesOf;
  }

  get size(): number {
    return this.members.size;
  }

  get kinds(): readonly Kind[] {
    return this.describe().kinds;
  }

  get networks(): number {
    return this.describe().networks;
  }

  get countries(): number {
    return this.describe().countries;
  }

  get leastLoad(): number {
    if (this.load === undefined) {
      this.load = Number.POSITIVE_INFINITY;
      for (const { candidates } of this.byKey.values()) this.load = Math.min(this.load, candidates[0]!.load);
    }
    return this.load;
  }

  /** Adds, moves or removes a probe according to its present state. */
  take(probe: KnownProbe): void {
    const { id } = probe.record;
    const member = this.members.get(id);
    if (!canRun(probe, this.type)) {
      if (member !== undefined) this.remove(id, member);
      return;
    }
    const { running, capacity } = probe.heartbeat!.load;
    const load = running / capacity;
    const key = this.keyOf(probe);
    if (member?.kind.key === key && member.candidate.load === load) return;
    if (member !== undefined) this.remove(id, member);
    this.add(probe, key, load);
  }

  private keyOf(probe: KnownProbe): string {
    const { id, asNumber, countryCode } = probe.record;
    return [asNumber, countryCode, isHealthy(probe) ? 0 : 1, ...this.placesOf(id)].join(' ');
  }

  private add(probe: KnownProbe, key: string, load: number): void {
    const { id, asNumber, countryCode } = probe.record;
    const places = this.placesOf(id);
    let kind = this.byKey.get(key);
    if (kind === undefined) {
      kind = { key, asNumber, countryCode, places, degraded: isHealthy(probe) ? 0 : 1, candidates: [] };
      this.byKey.set(key, kind);
      this.derived = undefined;
    }
    const candidate = { id, load };
    kind.candidates.splice(endOf(kind.candidates, load), 0, candidate);
    this.members.set(id, { kind, candidate });
    for (const place of places) this.sizes.set(place, (this.sizes.get(place) ?? 0) + 1);
    this.load = undefined;
  }

  private remove(id: string, { kind, candidate }: Member): void {
    const { candidates, key, places } = kind;
    candidates.splice(candidates.lastIndexOf(candidate, endOf(candidates, candidate.load) - 1), 1);
    this.members.delete(id);
    if (candidates.length === 0) {
      this.byKey.delete(key);
      this.derived = undefined;
    }
    for (const place of places) {
      const left = this.sizes.get(place)! - 1;
      if (left === 0) this.sizes.delete(place);
      else this.sizes.set(place, left);
    }
    this.load = undefined;
  }

  private describe(): Omit<ProbePool, 'size' | 'sizes' | 'leastLoad'> {
    if (this.derived !== undefined) return this.derived;
    const kinds = [...this.byKey.values()];
    this.derived = {
      kinds,
      networks: new Set(kinds.map(({ asNumber }) => asNumber)).size,
      countries: new Set(kinds.map(({ countryCode }) => countryCode)).size,
    };
    return this.derived;
  }
}

/** Index after the last candidate with at most this load; they are ordered by load. */
export function endOf(
  candidates: readonly Candidate[],
  load: number,
  loadOf = (candidate: Candidate): number => candidate.load,
): number {
  let low = 0;
  let high = candidates.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (loadOf(candidates[middle]!) <= load) low = middle + 1;
    else high = middle;
  }
  return low;
}

function canRun(probe: KnownProbe, type: string): boolean {
  return absenceOf(probe) === undefined && (probe.heartbeat?.capabilities.types.includes(type) ?? false);
}
