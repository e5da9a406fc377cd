import { escapeText, type InputError } from '@vantage/contract';

import { readLocations, type Location } from './locations.ts';
import { absenceOf, isHealthy, type KnownProbe } from '../registry/probe-status.ts';

export interface SelectionRequest {
  /** Name of the check type. */
  readonly type: string;
  readonly probes?: readonly string[] | undefined;
  readonly locations?: readonly string[] | undefined;
  readonly limit: number;
  /** Order among probes that are equal in all else, smaller first. Without it they go by their id. */
  readonly tieBreak?: (probe: string) => number;
}

export type Selection =
  | {
      readonly selected: true;
      readonly probes: readonly string[];
      /** Those that cannot take a job now, with the sentence that says why. */
      readonly offline: ReadonlyMap<string, string>;
    }
  | { readonly selected: false; readonly reason: 'invalid'; readonly errors: readonly InputError[] }
  | { readonly selected: false; readonly reason: 'no-probe'; readonly detail: string };

/**
 * Chooses the probes of a check: exactly those that it names, or up to `limit` that are online, in the places it names,
 * and can run its type. Healthy ones before degraded ones; spread over as many networks and countries as there are; then
 * the least loaded.
 */
export function selectProbes(known: readonly KnownProbe[], request: SelectionRequest): Selection {
  if (request.probes !== undefined) return selectNamed(known, request.probes);

  const records = request.locations === undefined ? [] : known.map(({ record }) => record);
  const read = readLocations(request.locations ?? [], records);
  if ('errors' in read) return { selected: false, reason: 'invalid', errors: read.errors };
  const candidates = known.filter((probe) => isIn(probe, read.locations));
  const capable = candidates.filter((probe) => canRun(probe, request.type));
  if (capable.length === 0) {
    return { selected: false, reason: 'no-probe', detail: whyNone(known, candidates, request) };
  }
  return { selected: true, probes: spread(capable, read.locations, request), offline: new Map() };
}

function selectNamed(known: readonly KnownProbe[], names: readonly string[]): Selection {
  const byId = new Map(known.map((probe) => [probe.record.id, probe]));
  const errors = names.flatMap((name, index) =>
    byId.has(name) ? [] : [{ path: `/probes/${index}`, message: `there is no probe "${escapeText(name, 80)}"` }],
  );
  if (errors.length > 0) return { selected: false, reason: 'invalid', errors };
  const offline = new Map<string, string>();
  for (const name of names) {
    const absence = absenceOf(byId.get(name)!);
    if (absence !== undefined) offline.set(name, absence);
  }
  return { selected: true, probes: names, offline };
}

function isIn({ record }: KnownProbe, locations: readonly Location[]): boolean {
  return locations.length === 0 || locations.some((terms) => terms.every((holds) => holds(record)));
}

function canRun(probe: KnownProbe, type: string): boolean {
  return isOnline(probe) && (probe.heartbeat?.capabilities.types.includes(type) ?? false);
}

function isOnline(probe: KnownProbe): boolean {
  return absenceOf(probe) === undefined;
}

interface Candidate {
  readonly id: string;
  readonly asNumber: string;
  readonly countryCode: string;
  /** The places of the request, by index, that the probe is in; the one with the fewest probes first. */
  readonly places: readonly number[];
  readonly degraded: number;
  /** Share of its capacity that is in use. */
  readonly load: number;
  readonly tie: number;
}

const NOWHERE: readonly number[] = [];

/** Takes one after another, always the one that adds most to what was taken. */
function spread(
  capable: readonly KnownProbe[],
  locations: readonly Location[],
  { limit, tieBreak = () => 0 }: SelectionRequest,
): readonly string[] {
  const left = narrowestFirst(capable.map((probe) => toCandidate(probe, locations, tieBreak)));
  const taken: string[] = [];
  const uses = new Map<string | number, number>();
  while (taken.length < limit && left.length > 0) {
    const next = least(left, uses);
    left.splice(left.indexOf(next), 1);
    taken.push(next.id);
    for (const use of [next.asNumber, next.countryCode, ...placeTaken(next, uses)]) {
      uses.set(use, (uses.get(use) ?? 0) + 1);
    }
  }
  return taken;
}

function narrowestFirst(candidates: readonly Candidate[]): Candidate[] {
  const sizes = new Map<number, number>();
  for (const { places } of candidates) for (const place of places) sizes.set(place, (sizes.get(place) ?? 0) + 1);
  return candidates.map((candidate) =>
    candidate.places.length < 2
      ? candidate
      : { ...candidate, places: candidate.places.toSorted((one, other) => sizes.get(one)! - sizes.get(other)!) },
  );
}

/** A probe in several of the places counts for the emptiest of them, else wide places would get narrow ones' probes. */
function placeTaken({ places }: Candidate, uses: ReadonlyMap<string | number, number>): readonly number[] {
  const usesOf = (place: number): number => uses.get(place) ?? 0;
  const emptiest = places.reduce<number | undefined>(
    (best, place) => (best === undefined || usesOf(place) < usesOf(best) ? place : best),
    undefined,
  );
  return emptiest === undefined ? NOWHERE : [emptiest];
}

function toCandidate(
  probe: KnownProbe,
  locations: readonly Location[],
  tieBreak: (probe: string) => number,
): Candidate {
  const { id, asNumber, countryCode } = probe.record;
  const { running, capacity } = probe.heartbeat!.load;
  const places =
    locations.length === 0
      ? NOWHERE
      : locations.flatMap((terms, index) => (terms.every((holds) => holds(probe.record)) ? [index] : []));
  const degraded = isHealthy(probe) ? 0 : 1;
  return { id, asNumber, countryCode, places, degraded, load: running / capacity, tie: tieBreak(id) };
}

/** The one that ranks lowest. Asked for each check: it allocates nothing. */
function least(candidates: readonly Candidate[], uses: ReadonlyMap<string | number, number>): Candidate {
  const usesOf = (of: string | number): number => uses.get(of) ?? 0;
  let best: Candidate | undefined;
  let [bestPlace, bestNetwork, bestCountry] = [0, 0, 0];
  for (const candidate of candidates) {
    // Each place that the request names gets its share.
    const place = candidate.places.length === 0 ? 0 : Math.min(...candidate.places.map(usesOf));
    const network = usesOf(candidate.asNumber);
    const country = usesOf(candidate.countryCode);
    const isLess =
      best === undefined ||
      (place - bestPlace ||
        candidate.degraded - best.degraded ||
        Math.min(network, 1) + Math.min(country, 1) - Math.min(bestNetwork, 1) - Math.min(bestCountry, 1) ||
        network + country - bestNetwork - bestCountry ||
        network - bestNetwork ||
        candidate.load - best.load ||
        candidate.tie - best.tie ||
        (candidate.id < best.id ? -1 : 1)) < 0;
    if (!isLess) continue;
    best = candidate;
    bestPlace = place;
    bestNetwork = network;
    bestCountry = country;
  }
  return best!;
}

function whyNone(
  known: readonly KnownProbe[],
  candidates: readonly KnownProbe[],
  { type, locations }: SelectionRequest,
): string {
  if (known.length === 0) return 'No probe is registered yet.';
  const where =
    locations === undefined ? '' : ` at ${locations.map((text) => `"${escapeText(text, 80)}"`).join(' or ')}`;
  if (candidates.length === 0) return `There is no probe${where}.`;
  const online = candidates.filter(isOnline);
  const among = (count: number): string => (count === 1 ? 'The only probe' : `None of the ${count} probes`);
  if (online.length === 0) {
    return `${among(candidates.length)}${where} is ${candidates.length === 1 ? 'not ' : ''}online.`;
  }
  return `${among(online.length)}${where} that ${online.length === 1 ? 'is online cannot' : 'are online can'} run ${type} checks.`;
}
