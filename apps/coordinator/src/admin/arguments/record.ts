import { escapeText, type ProbeRecord } from '@vantage/contract';

/** Options of `probe:add` and `probe:invite`, and the field of the record that each sets. */
const fieldOf = {
  name: 'name',
  datacenter: 'datacenter',
  country: 'countryCode',
  isp: 'isp',
  asn: 'asNumber',
  city: 'city',
  lat: 'latitude',
  lon: 'longitude',
  tag: 'tags',
} as const satisfies Record<string, keyof ProbeRecord>;

/** Builds an unvalidated record from the options. */
export function readRecord(id: string, text: (name: string) => string | undefined, tags: readonly string[]): unknown {
  const record = {
    id,
    name: text('name'),
    datacenter: text('datacenter'),
    countryCode: text('country')?.toUpperCase(),
    isp: text('isp'),
    asNumber: text('asn')?.toUpperCase(),
    city: text('city') ?? null,
    latitude: degrees(text('lat')),
    longitude: degrees(text('lon')),
    tags: tags.flatMap((some) => some.split(',')),
  };
  // JSON has no undefined fields: the schema reports them as required.
  return JSON.parse(JSON.stringify(record)) as unknown;
}

/** @returns the number; null without a text; a text that is no number unchanged, so that the schema rejects it */
function degrees(text: string | undefined): number | string | null {
  if (text === undefined) return null;
  const number = Number(text);
  return text.trim() === '' || !Number.isFinite(number) ? text : number;
}

const TEXT = '1 to 128 characters that can be shown, without line breaks, control characters and changes of direction';

/** Allowed values, as continuations of "must be". */
const expected: Readonly<Record<string, string>> = {
  id: '1 to 63 lower-case letters, digits and hyphens',
  name: TEXT,
  datacenter: TEXT,
  countryCode: 'a two-letter country code (ISO 3166-1)',
  isp: TEXT,
  asNumber: 'AS and digits, such as AS64500',
  city: TEXT,
  latitude: 'degrees from -90 to 90',
  longitude: 'degrees from -180 to 180',
  tags: 'at most 32 different tags, each 1 to 63 lower-case letters, digits and hyphens',
};

/** One line about a field of the record that names its option and what is allowed. */
export function recordFaultLine(
  { field, message }: { readonly field: string; readonly message: string },
  record: unknown,
): string {
  const option = optionOf(field);
  const value = (record as Readonly<Record<string, unknown>>)[field];
  if (value === undefined) return `${option}: is required`;
  const allowed = expected[field];
  if (allowed === undefined) return `${option}: ${message}`;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `${option}: must be ${allowed}, not “${escapeText(text, 80)}”`;
}

/** @returns the option that sets a field of the record */
function optionOf(field: string): string {
  const [name] = Object.entries(fieldOf).find(([, of]) => of === field) ?? [];
  return name === undefined ? `<${field}>` : `--${name}`;
}
