import { asnSchema, nullable } from './formats.ts';
import { Type, type Static } from './type.ts';

const label = (description: string) => nullable(Type.String({ maxLength: 256, description }));

/** Geo data of an address. Fields without data are `null`. */
export const placeFields = {
  asn: nullable(asnSchema),
  asName: label('Name of the autonomous system.'),
  isp: label('Network provider name.'),
  org: label('Organization name.'),
  prefix: label('The announced or allocated prefix that holds the address, CIDR.'),
  city: label('City.'),
  region: label('Region.'),
  country: label('Country name, in English.'),
  countryCode: nullable(Type.String({ pattern: '^[A-Z]{2}$', maxLength: 2, description: 'ISO 3166-1 alpha-2.' })),
  timezone: label('IANA time zone name.'),
  latitude: nullable(Type.Number({ minimum: -90, maximum: 90, description: 'Degrees.' })),
  longitude: nullable(Type.Number({ minimum: -180, maximum: 180, description: 'Degrees.' })),
  provider: label('The data sources of the answer, with the attribution that their licences require.'),
  dataDate: label('Date of the newest data source used, ISO 8601 date.'),
};

const place = Type.Object(placeFields);

export type Place = Static<typeof place>;

/** The geo data of an address of which no source knows anything. */
export const unknownPlace: Readonly<Place> = {
  asn: null,
  asName: null,
  isp: null,
  org: null,
  prefix: null,
  city: null,
  region: null,
  country: null,
  countryCode: null,
  timezone: null,
  latitude: null,
  longitude: null,
  provider: null,
  dataDate: null,
};

/** Looks up the geo data of an address. Never throws; an unknown address yields a `Place` of nulls. */
export type LookUpPlace = (address: string) => Place;
