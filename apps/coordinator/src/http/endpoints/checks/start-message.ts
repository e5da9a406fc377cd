import { escapeText } from '@vantage/contract';

import type { Creation } from '../../../checks/checks.ts';

type Created = Extract<Creation, { readonly created: true }>;

/** How many probes run a new check, how many of the chosen ones cannot, and which of the locations have none. */
export function startMessage(
  type: string,
  { probes, withoutJob, emptyLocations = [] }: Pick<Created, 'probes' | 'withoutJob' | 'emptyLocations'>,
): string {
  const absent = withoutJob === 0 ? '' : `; ${count(withoutJob)} ${withoutJob === 1 ? 'is' : 'are'} not available`;
  const places = emptyLocations.map((text) => `"${escapeText(text, 80)}"`).join(' or ');
  const without = places === '' ? '' : `; no probe at ${places} can run it`;
  return `The ${type} check runs from ${count(probes.length - withoutJob)}${absent}${without}.`;
}

function count(probes: number): string {
  if (probes < 2) return probes === 1 ? 'one probe' : 'no probe';
  return `${probes} probes`;
}
