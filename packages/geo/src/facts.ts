import { escapeText } from '@vantage/contract';

/** Data of one source about an address; texts are escaped and bounded, empty ones become `null`. */
export interface Facts {
  readonly asn: string | null;
  readonly asName: string | null;
  readonly isp: string | null;
  readonly org: string | null;
  readonly city: string | null;
  readonly region: string | null;
  readonly country: string | null;
  readonly countryCode: string | null;
  readonly timezone: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
}

/**
 * Reads a record of an MMDB file by the shape of its keys, because the type in the file's metadata is free text:
 * - MaxMind and DB-IP: nested, names by language, networks flat or under `traits`
 * - IPinfo: flat, `country` a code or a name, coordinates as text, `asn` as `AS<digits>`
 * - ip-location-db: flat, `country_code`, `state1`
 */
export function readFacts(record: object): Facts {
  const traits = fieldOf(record, 'traits');
  const location = fieldOf(record, 'location');
  const asn = asnOf(fieldOf(record, 'autonomous_system_number', 'asn') ?? fieldOf(traits, 'autonomous_system_number'));
  // IPinfo names the network `name` in files of networks, and the company `name` in files of companies.
  const name = label(fieldOf(record, 'name'));
  const asName =
    label(fieldOf(record, 'autonomous_system_organization', 'as_name')) ??
    label(fieldOf(traits, 'autonomous_system_organization'));
  return {
    asn,
    asName: asName ?? (asn === null ? null : name),
    isp: label(fieldOf(record, 'isp')) ?? label(fieldOf(traits, 'isp')),
    org:
      label(fieldOf(record, 'organization')) ??
      label(fieldOf(traits, 'organization')) ??
      (asName === null ? null : name),
    city: nameOf(fieldOf(record, 'city')),
    region: nameOf(firstOf(fieldOf(record, 'subdivisions')) ?? fieldOf(record, 'region', 'state1')),
    ...countryOf(record),
    timezone: label(fieldOf(location, 'time_zone') ?? fieldOf(record, 'timezone')),
    ...coordinatesOf(
      fieldOf(location, 'latitude') ?? fieldOf(record, 'latitude', 'lat'),
      fieldOf(location, 'longitude') ?? fieldOf(record, 'longitude', 'lng'),
    ),
  };
}

/** The trimmed and escaped text of a source; `null` if it is empty or not a text. */
export function label(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.trim();
  return text === '' ? null : escapeText(text);
}

/** Two capital letters, as in ISO 3166-1 alpha-2; `ZZ` (unknown in CLDR and DB-IP) is no country. */
export function countryCodeOf(value: unknown): string | null {
  return typeof value === 'string' && /^[A-Z]{2}$/.test(value) && value !== 'ZZ' ? value : null;
}

/** Both coordinates, to four decimals (11 m), or neither. 0°, 0° (in the Gulf of Guinea) usually means "unknown". */
export function coordinatesOf(latitude: unknown, longitude: unknown): Pick<Facts, 'latitude' | 'longitude'> {
  const [north, east] = [degreesOf(latitude), degreesOf(longitude)];
  if (north === null || east === null || (north === 0 && east === 0)) return { latitude: null, longitude: null };
  if (Math.abs(north) > 90 || Math.abs(east) > 180) return { latitude: null, longitude: null };
  return { latitude: north, longitude: east };
}

function degreesOf(value: unknown): number | null {
  const degrees = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof degrees === 'number' && Number.isFinite(degrees) ? Math.round(degrees * 1e4) / 1e4 : null;
}

function countryOf(record: object): Pick<Facts, 'country' | 'countryCode'> {
  const country = fieldOf(record, 'country') ?? fieldOf(record, 'registered_country');
  const code = countryCodeOf(fieldOf(country, 'iso_code') ?? fieldOf(record, 'country_code') ?? country);
  const name = label(fieldOf(record, 'country_name')) ?? nameOf(country);
  return { countryCode: code, country: name === code ? null : name };
}

function asnOf(value: unknown): string | null {
  const digits = typeof value === 'string' ? /^(?:AS)?([0-9]{1,10})$/i.exec(value.trim())?.[1] : value;
  const number =
    typeof digits === 'number' || typeof digits === 'bigint' || typeof digits === 'string' ? Number(digits) : 0;
  return Number.isInteger(number) && number > 0 && number <= 0xffff_ffff ? `AS${number}` : null;
}

/** A name as text, or as MaxMind has it: `{ names: { en } }`, or at least `{ iso_code }`; null for anything else. */
function nameOf(value: unknown): string | null {
  return label(value) ?? label(fieldOf(fieldOf(value, 'names'), 'en')) ?? label(fieldOf(value, 'iso_code'));
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : undefined;
}

/**
 * The first value under these keys that is neither null nor empty; `undefined` without one, and if `value` is no
 * object.
 */
function fieldOf(value: unknown, ...keys: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  for (const key of keys) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field !== undefined && field !== null && field !== '') return field;
  }
  return undefined;
}
