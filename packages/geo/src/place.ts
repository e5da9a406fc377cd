import tzLookUp from '@photostructure/tz-lookup';
import { countryNameOf, type Place } from '@vantage/contract';

import type { Facts } from './facts.ts';

/** A place to which one source after another adds its data. */
export type Draft = Place;

/**
 * Adds a later source’s data about the network, unless its AS number differs from the known one. Returns whether it
 * added anything.
 */
export function addNetwork(place: Draft, facts: Facts, prefix: () => string | null): boolean {
  if (place.asn !== null && facts.asn !== null && place.asn !== facts.asn) return false;
  let added = false;
  if (place.asn === null && facts.asn !== null) {
    place.asn = facts.asn;
    place.prefix = prefix();
    added = true;
  }
  for (const field of ['asName', 'isp', 'org'] as const) {
    if (place[field] !== null || facts[field] === null) continue;
    place[field] = facts[field];
    added = true;
  }
  return added;
}

/**
 * Adds registration data: owner and prefix of the network, and the country, as far as no other source has them. Returns
 * whether it added anything.
 */
export function addRegistration(
  place: Draft,
  { facts, prefix }: { readonly facts: Facts; readonly prefix: string },
): boolean {
  const added = [addLocation(place, facts), addNetwork(place, facts, () => null), place.prefix === null];
  place.prefix ??= prefix;
  return added.includes(true);
}

/**
 * Adds a later source's data about the location, from coarse to fine and only as far as it agrees with the known
 * data: a city of one source in the country of another would be a place that no source contains. Returns whether it
 * added anything.
 */
export function addLocation(place: Draft, facts: Facts): boolean {
  let added = false;
  for (const field of ['countryCode', 'country', 'region', 'city'] as const) {
    const fact = facts[field];
    if (place[field] === null && fact !== null) {
      place[field] = fact;
      added = true;
    } else if (field !== 'country' && !sameName(place[field], fact)) {
      return added;
    }
  }
  if (place.latitude === null && facts.latitude !== null) {
    place.latitude = facts.latitude;
    place.longitude = facts.longitude;
    added = true;
  }
  if (place.timezone === null && facts.timezone !== null) {
    place.timezone = facts.timezone;
    added = true;
  }
  return added;
}

export function lacksNetwork(place: Place): boolean {
  return place.asn === null || place.asName === null || place.isp === null || place.org === null;
}

export function lacksLocation(place: Place): boolean {
  return place.countryCode === null || place.region === null || place.city === null || place.latitude === null;
}

/**
 * Derives the English name of the country from its code, and as far as they are missing the time zone from the
 * coordinates, and provider and owner from the name of the AS.
 */
export function deriveRest(place: Draft): void {
  if (place.countryCode !== null) place.country = countryNameOf(place.countryCode) ?? place.country;
  if (place.timezone === null && place.latitude !== null && place.longitude !== null) {
    place.timezone = tzLookUp(place.latitude, place.longitude);
  }
  place.isp ??= place.asName;
  place.org ??= place.asName;
}

/**
 * True if two texts for a country, region or city do not contradict each other: equal but for case, one unknown, or one
 * a name and the other a code, as some sources have ISO 3166-2 codes for regions.
 */
function sameName(known: string | null, fact: string | null): boolean {
  if (known === null || fact === null || CODE.test(known) !== CODE.test(fact)) return true;
  return known.toLowerCase() === fact.toLowerCase();
}

const CODE = /^[A-Z0-9]{1,3}$/;
