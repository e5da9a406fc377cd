import type { InputError, ProbeRecord } from '@vantage/contract';

import { continentNamed, continentOf, isCountryCode } from './continents.ts';

/** A place as a caller names it: all of its terms must hold. */
export type Location = readonly Term[];

/** One term, and whether a probe is there. */
type Term = (probe: ProbeRecord) => boolean;

export type ReadLocations =
  | { readonly locations: readonly Location[] }
  /** JSON pointers into the request. */
  | { readonly errors: readonly InputError[] };

/**
 * Reads the `locations` of a request: country code or English name, city, continent, `AS<digits>`, name of network or
 * datacenter (or whole words of it), or tag; terms joined by `+`. Case, accents and punctuation do not matter.
 */
export function readLocations(texts: readonly string[]): ReadLocations {
  const errors: InputError[] = [];
  const locations = texts.map((text, index) => {
    const terms = text.split('+').map(normalise);
    if (terms.some((term) => term === '')) {
      errors.push({ path: `/locations/${index}`, message: 'must be terms joined by +, none of them empty' });
    }
    return terms.map(readTerm);
  });
  return errors.length > 0 ? { errors } : { locations };
}

const countryNames = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' });

/** What people write for countries beside their codes and names. */
const aliases: Readonly<Record<string, string>> = { uk: 'GB', usa: 'US', uae: 'AE', 'great britain': 'GB' };

function readTerm(term: string): Term {
  const isTagged: Term = ({ tags }) => tags.some((tag) => normalise(tag) === term);
  if (/^as\d{1,10}$/.test(term)) return (probe) => probe.asNumber.toLowerCase() === term || isTagged(probe);

  // A code means a country and nothing else: `de` must not find the words of a network's name.
  const country = isCountryCode(term) ? term.toUpperCase() : Object.hasOwn(aliases, term) ? aliases[term] : undefined;
  if (country !== undefined) return (probe) => probe.countryCode === country || isTagged(probe);
  const continent = continentNamed(term);
  if (continent !== undefined) return (probe) => continentOf(probe.countryCode) === continent || isTagged(probe);

  return (probe) =>
    normalise(countryNames.of(probe.countryCode) ?? '') === term ||
    (probe.city !== null && normalise(probe.city) === term) ||
    hasWords(probe.isp, term) ||
    hasWords(probe.datacenter, term) ||
    isTagged(probe);
}

function hasWords(name: string, term: string): boolean {
  return ` ${normalise(name)} `.includes(` ${term} `);
}

/** Lower case, no accents, words of letters and digits with one space between. */
function normalise(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
