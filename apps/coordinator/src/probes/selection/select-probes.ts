import { escapeText, type InputError } from '@vantage/contract';

import { absenceOf, type KnownProbe } from '../registry/probe-status.ts';
import { unknownProbe } from '../unknown-probe.ts';
import { createProbePools } from './probe-pools.ts';
import { spread } from './spread.ts';

export interface SelectionRequest {
  /** Name of the check type. */
  readonly type: string;
  readonly probes?: readonly string[] | undefined;
  readonly locations?: readonly string[] | undefined;
  readonly limit: number;
  /** Order among otherwise equal probes, lowest first, or a random one each time. By default they are ordered by id. */
  readonly tieBreak?: ((probe: string) => number) | 'random';
  /** True to ignore load, so that the same probes are selected. */
  readonly ignoresLoad?: boolean;
  /** Which probes may be selected without being named; all by default. */
  readonly isEligible?: (probe: KnownProbe) => boolean;
}

export type Selection =
  | {
      readonly selected: true;
      readonly probes: readonly string[];
      /** Named probes that cannot take a job now, each with the reason. */
      readonly offline: ReadonlyMap<string, string>;
      /** Locations of the request without a probe that can run the check now; absent if there are none. */
      readonly emptyLocations?: readonly string[];
    }
  | { readonly selected: false; readonly reason: 'invalid'; readonly errors: readonly InputError[] }
  | { readonly selected: false; readonly reason: 'no-probe'; readonly detail: string };

/** Selects probes, and caches everything that depends on the probes alone. */
export interface ProbeSelector {
  readonly select: (known: readonly KnownProbe[], request: SelectionRequest) => Selection;
  /** The existing probes with these ids. */
  readonly find: (known: readonly KnownProbe[], ids: readonly string[]) => readonly KnownProbe[];
}

/**
 * Selects the probes of a check: those it names, or up to `limit` online probes in its locations that support its type.
 * With several locations, each gets an equal share as far as it has probes. Healthy probes precede degraded ones, then
 * those in the least used networks and countries, then the least loaded.
 */
export function createProbeSelector(): ProbeSelector {
  const pools = createProbePools();
  const select: ProbeSelector['select'] = (known, request) => {
    if (request.probes !== undefined) return selectNamed(pools.byId(known), request.probes);
    const { type, locations: texts = [], isEligible } = request;
    const found = pools.of(known, type, texts);
    if ('errors' in found) return { selected: false, reason: 'invalid', errors: found.errors };
    const byId = pools.byId(known);
    const selected = spread(found.pool, {
      ...request,
      isEligible: isEligible === undefined ? undefined : (id) => isEligible(byId.get(id)!),
    });
    if (selected.length === 0) {
      return { selected: false, reason: 'no-probe', detail: whyNone(known, found.inPlaces(), request) };
    }
    const emptyLocations = texts.filter((_, index) => !found.pool.sizes.has(index));
    const empty = emptyLocations.length === 0 ? {} : { emptyLocations };
    return { selected: true, probes: selected, offline: new Map(), ...empty };
  };
  return { select, find: (known, ids) => ids.flatMap((id) => pools.byId(known).get(id) ?? []) };
}

function selectNamed(byId: ReadonlyMap<string, KnownProbe>, names: readonly string[]): Selection {
  const errors = names.flatMap((name, index) =>
    byId.has(name) ? [] : [{ path: `/probes/${index}`, message: unknownProbe(name, byId.keys()) }],
  );
  if (errors.length > 0) return { selected: false, reason: 'invalid', errors };
  const offline = new Map<string, string>();
  for (const name of names) {
    const absence = absenceOf(byId.get(name)!);
    if (absence !== undefined) offline.set(name, absence);
  }
  return { selected: true, probes: names, offline };
}

function whyNone(
  known: readonly KnownProbe[],
  candidates: readonly KnownProbe[],
  { type, locations }: SelectionRequest,
): string {
  if (known.length === 0) return 'No probe is registered yet.';
  const where =
    locations === undefined ? '' : ` at ${locations.map((text) => `"${escapeText(text, 80)}"`).join(' or ')}`;
  if (candidates.length === 0) return `There is no probe${where}.${whereThen(known)}`;
  const online = candidates.filter((probe) => absenceOf(probe) === undefined);
  const among = (count: number): string => (count === 1 ? 'The only probe' : `None of the ${count} probes`);
  if (online.length === 0) {
    return `${among(candidates.length)}${where} is ${candidates.length === 1 ? 'not ' : ''}online.`;
  }
  return `${among(online.length)}${where} that ${online.length === 1 ? 'is online cannot' : 'are online can'} run ${type} checks.`;
}

/** Number of countries, and of networks, that a refusal names; of up to two more it names all. */
const MOST_NAMED = 8;

/** A sentence with the countries and networks that have an online probe; empty if there are none. */
function whereThen(known: readonly KnownProbe[]): string {
  const online = known.filter((probe) => absenceOf(probe) === undefined).map(({ record }) => record);
  if (online.length === 0) return '';
  const countries = listed(
    online.map(({ countryCode }) => countryCode),
    'countries',
  );
  const networks = listed(
    online.map(({ asNumber }) => asNumber),
    'networks',
  );
  return ` Probes are online in ${countries} (networks: ${networks}).`;
}

function listed(all: readonly string[], noun: string): string {
  const names = [...new Set(all)].toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }));
  const rest = names.length - MOST_NAMED;
  // One or two more names take no more room than “2 more networks”.
  const shown = rest > 2 ? [...names.slice(0, MOST_NAMED), `${rest} more ${noun}`] : names;
  return shown.length === 1 ? shown[0]! : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)!}`;
}
