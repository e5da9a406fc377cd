import { escapeText, type InputError, type ProbeRecord } from '@vantage/contract';

import { continentNamed, continentNames, continentOf, isCountryCode } from './continents.ts';
import { nearestName } from './places/nearest.ts';
import { normalisePlace, placeKey } from './places/normalise.ts';
import { placeNames, type Places } from './places/places.ts';

/** A parsed location: all of its conditions must hold. */
export type Location = readonly Condition[];

/** Whether a probe satisfies a term. */
type Condition = (probe: ProbeRecord) => boolean;

interface Term {
  readonly holds: Condition;
  /** Why the term is an error; undefined for a known name, even without a probe there. */
  readonly unknown?: 'name' | 'cities of the state';
}

export type ReadLocations =
  | { readonly locations: readonly Location[] }
  /** Errors with JSON pointers into the request. */
  | { readonly errors: readonly InputError[] };

/**
 * Reads the `locations` of a request: country code (of two or three letters) or name, part of the United Kingdom, city,
 * state or province, continent, `AS<digits>`, name of network or datacenter (or whole words of it), or tag; terms
 * joined by `+`. Case, accents and punctuation do not matter. A term that is unknown here and found at no probe is an
 * error; the first one names the nearest known name, if there is one.
 */
export function readLocations(texts: readonly string[], known: readonly ProbeRecord[]): ReadLocations {
  const errors: InputError[] = [];
  const locations = texts.map((text, index) => {
    const path = `/locations/${index}`;
    const terms = text.split('+');
    if (terms.some((term) => normalisePlace(term) === '')) {
      errors.push({ path, message: 'must be terms joined by +, none of them empty' });
      return [];
    }
    return terms.map((written) => {
      const term = readTerm(written, known);
      // Finding the nearest name takes milliseconds, so it is done once per request.
      if (term.unknown === 'name' && known.some(({ id }) => id === written.trim())) {
        errors.push({ path, message: `"${written.trim()}" is a probe, no location: name it in \`probes\`` });
      } else if (term.unknown === 'name') {
        errors.push({ path, message: unknownTerm(written, errors.length === 0 ? known : undefined) });
      } else if (term.unknown !== undefined) {
        errors.push({ path, message: stateWithoutCities(written) });
      }
      return term.holds;
    });
  });
  return errors.length > 0 ? { errors } : { locations };
}

function readTerm(written: string, known: readonly ProbeRecord[]): Term {
  const term = normalisePlace(written);
  const place = readPlace(written, term, known);
  if (place !== undefined) return { holds: (probe) => place(probe) || hasTag(probe, term) };

  const { cities, states } = placeNames();
  const isCity = cities.isNameOf(written);
  const holds: Condition = (probe) => (probe.city !== null && isCity(probe.city)) || hasWordsOrTag(probe, term);
  // New York is a city and a state: the city has precedence if it has a probe.
  if (known.some(holds)) return { holds };
  const codes = states.named(written);
  const inStates = codes.flatMap((code) => {
    const inState = states.inState(code);
    return inState === undefined ? [] : [{ country: code.slice(0, 2), inState }];
  });
  if (inStates.length > 0) {
    const isThere: Condition = ({ countryCode, city }) =>
      city !== null && inStates.some(({ country, inState }) => country === countryCode && inState(city));
    return { holds: isThere };
  }
  if (cities.isKnown(written)) return { holds };
  return { holds, unknown: codes.length > 0 ? 'cities of the state' : 'name' };
}

/**
 * Reads a network number, country, part of the United Kingdom or continent. Such a term matches nothing else, except a
 * tag.
 */
function readPlace(written: string, term: string, known: readonly ProbeRecord[]): Condition | undefined {
  const number = /^asn? ?(\d{1,10})$/.exec(term)?.[1];
  if (number !== undefined) return ({ asNumber }) => asNumber === `AS${Number(number)}`;

  const { countries, cities } = placeNames();
  // `de` must not match a word of a network's name.
  const code = term.toUpperCase();
  // A probe may have a user-assigned code of ISO 3166-1, such as QM.
  const isCode = isCountryCode(term) || known.some((probe) => probe.countryCode === code);
  const named = isCode ? [code] : countries.named(written);
  if (named.length > 0) return ({ countryCode }) => named.includes(countryCode);
  const inNation = cities.inNation(term);
  if (inNation !== undefined) {
    return ({ countryCode, city }) => countryCode === 'GB' && city !== null && inNation(city);
  }
  const continent = continentNamed(placeKey(written));
  if (continent !== undefined) return ({ countryCode }) => continentOf(countryCode) === continent;

  // FRA denotes France and an airport after which datacenters of Frankfurt are named: existing datacenters have
  // precedence.
  const country = countries.ofAlpha3(code);
  if (country === undefined || known.some((probe) => hasWordsOrTag(probe, term))) return undefined;
  return ({ countryCode }) => countryCode === country;
}

function hasWordsOrTag(probe: ProbeRecord, term: string): boolean {
  return hasWords(probe.isp, term) || hasWords(probe.datacenter, term) || hasTag(probe, term);
}

function hasTag({ tags }: ProbeRecord, term: string): boolean {
  return tags.some((tag) => withoutBlanks(normalisePlace(tag)) === withoutBlanks(term));
}

/** Whether the term is one word of the name or several consecutive ones, whatever separates them. */
function hasWords(name: string, term: string): boolean {
  const wanted = withoutBlanks(term);
  const words = normalisePlace(name).split(' ');
  return words.some((_, from) => {
    let joined = '';
    for (let to = from; joined.length < wanted.length && to < words.length; to += 1) joined += words[to]!;
    return joined === wanted;
  });
}

function withoutBlanks(term: string): string {
  return term.replaceAll(' ', '');
}

/**
 * Returns the error for an unknown term. It does not deny that the place exists, because the service does not know
 * every village.
 */
function unknownTerm(written: string, known: readonly ProbeRecord[] | undefined): string {
  const message = `"${escapeText(written.trim(), 80)}" is no name that this service knows, and no probe has a city, network, datacenter or tag of that name`;
  const nearest = known === undefined ? undefined : nearestName(written, candidates(known));
  return nearest === undefined ? message : `${message}; the nearest known name is "${escapeText(nearest, 80)}"`;
}

function stateWithoutCities(written: string): string {
  const codes = placeNames().states.named(written);
  const countries = [...new Set(codes.map((code) => code.slice(0, 2)))].join(' or ');
  return `"${escapeText(written.trim(), 80)}" is a state or province (${codes.join(', ')}) whose cities this service does not know: give a city of it, or ${countries}`;
}

/** Locations of probes first, so that of equally near names one with a probe is suggested. */
function* candidates(known: readonly ProbeRecord[]): Generator<readonly [key: string, name: string]> {
  const { countries, cities }: Places = placeNames();
  const own = known.flatMap(({ city, datacenter, isp, tags }) => [city ?? '', datacenter, isp, ...tags]);
  for (const name of [...new Set(own), ...continentNames]) yield [placeKey(name), name];
  yield* countries.names;
  yield* cities.names();
}
