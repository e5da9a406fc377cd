import { describe, expect, it } from '@jest/globals';

import { readFacts } from './facts.ts';

const berlin = {
  city: 'Berlin',
  region: 'Land Berlin',
  country: 'Germany',
  countryCode: 'DE',
  timezone: 'Europe/Berlin',
  latitude: 52.52,
  longitude: 13.405,
};

describe('the records of MMDB files', () => {
  it.each([
    [
      'MaxMind City',
      {
        city: { geoname_id: 2950159, names: { de: 'Berlin', en: 'Berlin' } },
        continent: { code: 'EU', names: { en: 'Europe' } },
        country: { iso_code: 'DE', names: { de: 'Deutschland', en: 'Germany' } },
        location: { accuracy_radius: 20, latitude: 52.52, longitude: 13.405, time_zone: 'Europe/Berlin' },
        registered_country: { iso_code: 'US', names: { en: 'United States' } },
        subdivisions: [{ iso_code: 'BE', names: { en: 'Land Berlin' } }],
      },
      berlin,
    ],
    [
      'MaxMind Country without a country of use',
      { registered_country: { iso_code: 'US', names: { en: 'United States' } } },
      { countryCode: 'US', country: 'United States', city: null },
    ],
    [
      'MaxMind ASN and DB-IP ASN',
      { autonomous_system_number: 64500, autonomous_system_organization: 'Example Transit' },
      { asn: 'AS64500', asName: 'Example Transit', isp: null, org: null },
    ],
    [
      'MaxMind ISP',
      {
        autonomous_system_number: 64500,
        autonomous_system_organization: 'Example Transit',
        isp: 'Example Cable',
        organization: 'Example University',
      },
      { asn: 'AS64500', asName: 'Example Transit', isp: 'Example Cable', org: 'Example University' },
    ],
    [
      'DB-IP location with ISP',
      {
        city: { names: { en: 'Berlin' } },
        country: { iso_code: 'DE', is_in_european_union: true, names: { en: 'Germany' } },
        location: { latitude: 52.52, longitude: 13.405, time_zone: 'Europe/Berlin', weather_code: 'GMXX0007' },
        subdivisions: [{ names: { en: 'Land Berlin' } }],
        traits: {
          autonomous_system_number: 64500,
          autonomous_system_organization: 'Example Transit',
          isp: 'Example Cable',
          organization: 'Example University',
        },
      },
      { ...berlin, asn: 'AS64500', asName: 'Example Transit', isp: 'Example Cable', org: 'Example University' },
    ],
    [
      'IPinfo Lite',
      {
        as_domain: 'example.net',
        as_name: 'Example Transit',
        asn: 'AS64500',
        continent: 'Europe',
        continent_code: 'EU',
        country: 'Germany',
        country_code: 'DE',
      },
      { asn: 'AS64500', asName: 'Example Transit', country: 'Germany', countryCode: 'DE', org: null },
    ],
    [
      'IPinfo location',
      {
        city: 'Berlin',
        country: 'DE',
        country_name: 'Germany',
        lat: '52.52',
        lng: '13.405',
        postal_code: '10115',
        region: 'Land Berlin',
        timezone: 'Europe/Berlin',
      },
      berlin,
    ],
    [
      'IPinfo ASN',
      { asn: 'AS64500', domain: 'example.net', name: 'Example Transit', type: 'isp' },
      { asn: 'AS64500', asName: 'Example Transit', org: null },
    ],
    [
      'IPinfo company',
      { as_name: 'Example Transit', asn: 'AS64500', country: 'DE', name: 'Example University' },
      { asn: 'AS64500', asName: 'Example Transit', org: 'Example University', countryCode: 'DE', country: null },
    ],
    [
      'ip-location-db, whose empty texts are nothing',
      {
        city: 'Berlin',
        country_code: 'DE',
        latitude: 52.520000457763672,
        longitude: 13.404999732971191,
        postcode: '',
        state1: 'Land Berlin',
        state2: '',
        timezone: '',
      },
      { ...berlin, country: null, timezone: null },
    ],
  ])('are read in the layout of %s', (_, record, expected) => {
    expect(readFacts(record)).toMatchObject(expected);
  });

  it.each([
    ['a country that is none', { country_code: 'ZZ' }, 'countryCode'],
    ['a code of another form', { country_code: 'deu' }, 'countryCode'],
    ['the point where the unknown is put', { latitude: 0, longitude: 0 }, 'latitude'],
    ['a latitude beyond the pole', { latitude: 91, longitude: 10 }, 'latitude'],
    ['a latitude without a longitude', { latitude: 10 }, 'latitude'],
    ['a coordinate that is no number', { latitude: 'north', longitude: 'east' }, 'longitude'],
    ['AS 0', { autonomous_system_number: 0 }, 'asn'],
    ['an AS number of more than 32 bits', { asn: 'AS4294967296' }, 'asn'],
    ['an AS number with words', { asn: 'AS1 <b>' }, 'asn'],
    ['a city of another type', { city: 12 }, 'city'],
    ['a key of the prototype', Object.create({ city: 'Berlin' }) as object, 'city'],
  ] as const)('leave out %s', (_, record, field) => {
    expect(readFacts(record)[field]).toBeNull();
  });

  it('have their texts escaped and bounded', () => {
    const facts = readFacts({ city: 'a\u202Eb\u0007', as_name: 'x'.repeat(5000), asn: 'AS64500' });

    expect(facts.city).toBe('a\\u{202e}b\\u{7}');
    expect(facts.asName).toHaveLength(256);
  });
});
