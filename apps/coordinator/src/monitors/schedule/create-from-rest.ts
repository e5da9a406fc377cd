import { escapeText } from '@vantage/contract';

import type { AcceptedRequest, Creation } from '../../checks/checks.ts';

/** Fields of a definition that select probes. */
type Selecting = Pick<AcceptedRequest, 'probes' | 'locations' | 'unknownLocations'>;

export interface FromRest {
  /** The created check, or the reason for which there is none. */
  readonly outcome:
    | Extract<Creation, { readonly created: true }>
    | { readonly created: false; readonly reason: string };
  /** Probes that the definition names and that do not exist. */
  readonly removed: readonly string[];
  /** Locations of the definition without a probe that can run the check. */
  readonly emptyLocations: readonly string[];
}

/**
 * Creates the check of a monitor. Named probes and locations that do not exist any more are left out if others remain:
 * probes are removed while a monitor runs, and the rest of them must go on measuring.
 */
export async function createFromRest(
  create: (selecting: Selecting) => Promise<Creation>,
  { probes, locations }: Selecting,
): Promise<FromRest> {
  const asked = await create({ probes, locations });
  const removed = missingOf(asked, NAMED_PROBE, probes);
  const unknown = missingOf(asked, NAMED_LOCATION, locations);
  const rest = { probes: without(probes, removed), locations: without(locations, unknown) };
  const isSame = removed.length + unknown.length === 0;
  if (isSame || rest.probes?.length === 0 || rest.locations?.length === 0) {
    return {
      outcome: asked.created ? asked : { created: false, reason: whyNot(asked) },
      removed: [],
      ...emptyOf(asked),
    };
  }
  const creation = await create({ ...rest, unknownLocations: unknown });
  if (!creation.created) {
    const also = unknown.length === 0 ? '' : ` There is no probe at ${quoted(unknown)} either.`;
    return { outcome: { created: false, reason: `${whyNot(creation)}${also}` }, removed: [], emptyLocations: [] };
  }
  return { outcome: creation, removed, ...emptyOf(creation) };
}

const NAMED_PROBE = /^\/probes\/(\d+)$/;
const NAMED_LOCATION = /^\/locations\/(\d+)$/;

/** The names that do not exist, if that alone is why there is no check. */
function missingOf(creation: Creation, pattern: RegExp, names: readonly string[] = []): readonly string[] {
  if (creation.created || creation.reason !== 'invalid') return [];
  const { errors } = creation;
  if (!errors.every(({ path }) => pattern.test(path))) return [];
  return [...new Set(errors.flatMap(({ path }) => names[Number(pattern.exec(path)![1])] ?? []))];
}

function without(names: readonly string[] | undefined, missing: readonly string[]): readonly string[] | undefined {
  return names?.filter((name) => !missing.includes(name));
}

function emptyOf(creation: Creation): { readonly emptyLocations: readonly string[] } {
  return { emptyLocations: (creation.created ? creation.emptyLocations : undefined) ?? [] };
}

function quoted(locations: readonly string[]): string {
  return locations.map((text) => `"${escapeText(text, 80)}"`).join(' or ');
}

function whyNot(creation: Exclude<Creation, { readonly created: true }>): string {
  if (creation.reason === 'no-probe') return creation.detail;
  const { errors } = creation;
  if (errors.every(({ path }) => NAMED_PROBE.test(path))) return 'The probes that it names do not exist.';
  return errors.map(({ path, message }) => `${path} ${message}`).join('; ');
}
