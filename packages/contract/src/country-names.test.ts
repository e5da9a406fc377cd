import { describe, expect, it } from '@jest/globals';

import { countryNameOf } from './country-names.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('');

describe('the name of a country', () => {
  it('is that of CLDR, for every code of two letters', () => {
    const cldr = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
    const codes = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));

    expect(codes.map((code) => `${code} ${countryNameOf(code)}`)).toEqual(
      codes.map((code) => `${code} ${cldr.of(code)}`),
    );
  });

  it.each(['', 'D', 'DEU', 'de', '\n'])('is unknown for %j', (code) => {
    expect(countryNameOf(code)).toBeUndefined();
  });
});
