import { addressSchema, asnSchema, nullable } from './formats.ts';
import { Type, type Static } from './type.ts';

const text = (description: string) => nullable(Type.String({ maxLength: 256, description }));
export const countryCodeOfCallerSchema = nullable(
  Type.String({ pattern: '^[A-Z]{2}$', maxLength: 2, description: 'Two-letter country code.' }),
);

/** Response of `GET /me`. Country code and AS number are under two names each; unknown values are null. */
export const meSchema = Type.Object(
  {
    ip: addressSchema,
    hostname: text('Host name of the address, by PTR. Its owner may write any name: see `hostnameVerified`.'),
    hostnameVerified: nullable(
      Type.Boolean({
        description:
          'Whether the name leads back to the address; null without a name, or if the resolver failed or did not answer in time.',
      }),
    ),
    ipv4: nullable(addressSchema),
    ipv6: nullable(addressSchema),
    city: text('City.'),
    region: text('Region.'),
    country: text('Country name.'),
    countryCode: countryCodeOfCallerSchema,
    country_code: countryCodeOfCallerSchema,
    timezone: text('IANA time zone name.'),
    isp: text('Network provider name.'),
    asn: nullable(asnSchema),
    as: nullable(asnSchema),
    org: text('Organization name.'),
    provider: text('Name of the data provider, with its attribution.'),
  },
  { additionalProperties: false, title: 'IP information' },
);

export type Me = Static<typeof meSchema>;
