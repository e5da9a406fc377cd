import { describe, expect, it } from '@jest/globals';

import { continentNamed, continentOf, isCountryCode } from './continents.ts';

describe('continents', () => {
  it('have every country of the world', () => {
    const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
    const letters = Array.from({ length: 26 }, (_, index) => String.fromCodePoint(65 + index));
    // Entries of the list of regions that are not countries: groups, and private, reserved and withdrawn codes.
    const others = new Set([
      'AC',
      'AN',
      'BU',
      'CP',
      'CQ',
      'CS',
      'DD',
      'DG',
      'DY',
      'EA',
      'EU',
      'EZ',
      'FX',
      'HV',
      'IC',
      'NH',
      'NT',
    ]);
    for (const code of ['QO', 'RH', 'SU', 'TA', 'TP', 'UN', 'VD', 'XA', 'XB', 'YD', 'YU', 'ZR', 'ZZ', 'UK'])
      others.add(code);
    const countries = letters
      .flatMap((first) => letters.map((second) => first + second))
      .filter((code) => names.of(code) !== undefined && !others.has(code));

    expect(countries.filter((code) => continentOf(code) === undefined)).toEqual([]);
    expect(countries.length).toBe(250);
  });

  it.each([
    ['DE', 'europe'],
    ['JP', 'asia'],
    ['US', 'north america'],
    ['BR', 'south america'],
    ['ZA', 'africa'],
    ['AU', 'oceania'],
    ['AQ', 'antarctica'],
  ])('put %s in %s', (code, continent) => {
    expect(continentOf(code)).toBe(continent);
    expect(continentNamed(continent)).toBe(continent);
  });

  it.each(['constructor', '__proto__', 'atlantis', ''])('do not know %p', (name) => {
    expect(continentNamed(name)).toBeUndefined();
    expect(isCountryCode(name)).toBe(false);
  });
});
