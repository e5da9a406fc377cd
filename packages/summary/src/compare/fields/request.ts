import type { Difference, PublicRequest } from '@vantage/contract';

import { differentValue } from '../difference.ts';
import { repeatedFields } from './of-type.ts';

/** Options that are not compared, because they do not affect the measured packets. */
const IGNORED: ReadonlySet<string> = new Set(['endWithStream', 'screenshot']);

/**
 * Differences between the requests of two checks, except in `IGNORED` options and in fields that the results repeat;
 * none if one request is not known.
 */
export function requestDifferences(
  type: string,
  a: PublicRequest | undefined,
  b: PublicRequest | undefined,
): readonly Difference[] {
  if (a === undefined || b === undefined) return [];
  const [ofA, ofB] = [a, b].map(valuesOf);
  const repeated = new Set<string>((repeatedFields[type] ?? []).map(([field]) => field));
  const names = [...new Set([...ofA!.keys(), ...ofB!.keys()])].filter(
    (name) => !IGNORED.has(name) && !repeated.has(name) && !(name === 'family' && isBoth(ofA!, ofB!)),
  );
  return names.flatMap((name) =>
    differentValue(
      { subject: 'request', name, label: words(name) },
      ofA!.get(name) ?? DEFAULT,
      ofB!.get(name) ?? DEFAULT,
    ),
  );
}

const DEFAULT = 'default';

function valuesOf({ options = {}, withheld = [], ...fields }: PublicRequest): ReadonlyMap<string, string> {
  const shown = Object.entries({ ...fields, ...options }).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return new Map([...shown, ...withheld.map((name): [string, string] => [name, 'not shown'])]);
}

/** True if one of the requests is for both address families: the results show that, so the option is not compared. */
function isBoth(...values: readonly ReadonlyMap<string, string>[]): boolean {
  return values.some((one) => one.get('family') === 'both');
}

function words(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}
