import { describe, expect, it } from '@jest/globals';

import { inCountry, listed, ms, percent, safeDistinctTexts } from './words.ts';

describe('words', () => {
  it.each([
    [0.0049, 'less than 0.01 ms'],
    [0.054, '0.054 ms'],
    [4.26, '4.3 ms'],
    [42.6, '43 ms'],
    [999.4, '999 ms'],
    [999.5, '1 s'],
    [1_672, '1.67 s'],
    [9_994, '9.99 s'],
    [9_999, '10 s'],
    [12_340, '12.3 s'],
  ])('write %d ms as %s', (value, expected) => {
    expect(ms(value)).toBe(expected);
  });

  it.each([
    [[], ''],
    [['a'], 'a'],
    [['a', 'b'], 'a and b'],
    [['a', 'b', 'c', 'd'], 'a, b, c and d'],
    [['a', 'b', 'c', 'd', 'e'], 'a, b, c and 2 more'],
  ])('list %j as %s', (items, expected) => {
    expect(listed(items)).toBe(expected);
  });

  it.each([
    ['DE', 'in Germany'],
    ['US', 'in the United States'],
    ['NL', 'in the Netherlands'],
    ['CF', 'in the Central African Republic'],
    ['KY', 'in the Cayman Islands'],
    ['CZ', 'in Czechia'],
    ['PS', 'in the Palestinian Territories'],
    ['IM', 'in the Isle of Man'],
  ])('name the country %s in a sentence', (code, expected) => {
    expect(inCountry(code)).toBe(expected);
  });

  it('never call a loss none', () => {
    expect([percent(0.001), percent(0.5)]).toEqual(['1 %', '50 %']);
  });

  it('show long texts from where they differ, also from others that differ earlier', () => {
    const start = 'x'.repeat(200);
    const texts = [`${start}a1`, `${start}a2`, `${start}b1`, 'short'];
    const shown = texts.map(safeDistinctTexts(texts));

    expect(new Set(shown).size).toBe(4);
    expect(shown[0]).toMatch(/^…x+a1$/);
    expect(shown[3]).toBe('short');
  });
});
