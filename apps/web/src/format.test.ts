import { describe, expect, it } from '@jest/globals';

import { ago, byteCount, clockTime, countryName, duration, labelOf, percent, placeOf, plural } from './format.ts';

describe('numbers and names', () => {
  it.each([
    [null, '–'],
    [0, '0.00 ms'],
    [0.4242, '0.42 ms'],
    [12.34, '12.3 ms'],
    [9.996, '10.0 ms'],
    [99.96, '100 ms'],
    [123.4, '123 ms'],
    [999.7, '1.00 s'],
    [1234, '1.23 s'],
    [12_345, '12.3 s'],
  ])('writes a duration: %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  it('writes shares, sizes and counts', () => {
    expect([percent(0), percent(0.004), percent(0.125), percent(1)]).toEqual(['0 %', '0.4 %', '13 %', '100 %']);
    expect([byteCount(999), byteCount(1500), byteCount(2_500_000)]).toEqual(['999 B', '1.5 kB', '2.5 MB']);
    expect([plural(1, 'probe'), plural(0, 'probe'), plural(2, 'reply', 'replies')]).toEqual([
      '1 probe',
      '0 probes',
      '2 replies',
    ]);
  });

  it('names the time zone of a time of day', () => {
    const text = clockTime('2026-01-02T03:04:05.000Z');
    const zone = new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' })
      .formatToParts(new Date('2026-01-02T03:04:05.000Z'))
      .find(({ type }) => type === 'timeZoneName');

    expect(text).toContain(zone!.value);
  });

  it('says how long ago something was', () => {
    const now = Date.parse('2026-11-21T12:00:00Z');
    expect(ago('2026-11-21T11:59:58Z', now)).toBe('just now');
    expect(ago('2026-11-21T11:59:00Z', now)).toBe('1 minute ago');
    expect(ago('2026-11-20T11:59:00Z', now)).toBe('1 day ago');
    expect(ago('2026-11-24T12:00:00Z', now)).toBe('just now');
  });

  it.each([
    ['followRedirects', 'Follow redirects'],
    ['insecureSSL', 'Insecure SSL'],
    ['dnssecOk', 'DNSSEC ok'],
    ['ttl', 'TTL'],
    ['httpVersion', 'HTTP version'],
  ])('makes a label of %s', (name, label) => {
    expect(labelOf(name)).toBe(label);
  });

  it('names countries, and no country for the codes that ISO 3166-1 leaves to users', () => {
    expect([countryName('DE'), countryName('QO'), countryName('XA'), countryName('ZZ'), countryName(null)]).toEqual([
      'Germany',
      null,
      null,
      null,
      null,
    ]);
    expect(placeOf({ city: 'Frankfurt', countryCode: 'DE', datacenter: 'x' })).toBe('Frankfurt, Germany');
    expect(placeOf({ city: null, countryCode: 'QM', datacenter: 'Demo datacenter 1' })).toBe('Demo datacenter 1');
  });
});
