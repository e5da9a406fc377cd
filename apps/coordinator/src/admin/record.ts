import type { ProbeRecord } from '@vantage/contract';

/** Options of `add`, and the field of the record that each is. */
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

/** The record that the options say, not checked yet. */
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
  // Absent and undefined are the same to the schema, which then says "required".
  return JSON.parse(JSON.stringify(record)) as unknown;
}

/** A text that is no number stays one, for the schema to refuse. */
function degrees(text: string | undefined): number | string | null {
  if (text === undefined) return null;
  const number = Number(text);
  return text.trim() === '' || !Number.isFinite(number) ? text : number;
}

/** How whoever typed it calls a field of the record. */
export function optionOf(field: string): string {
  const [name] = Object.entries(fieldOf).find(([, of]) => of === field) ?? [];
  return name === undefined ? `<${field}>` : `--${name}`;
}
