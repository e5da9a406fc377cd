import { describe, expect, it } from '@jest/globals';

import { linesOf, nameLinesOf, widthOf } from './lines.ts';

const WIDTH = 1056;

describe('the name on a card', () => {
  it.each([
    ['wide', 'w'],
    ['common', 'a'],
    ['narrow', 'i'],
  ])('keeps both ends if it is long, in %s letters', (_kind, letter) => {
    const label = letter.repeat(60);
    const lines = nameLinesOf(`tcp ${label}.${label}.${label}.example.com:443`, 'name', WIDTH, 2);

    expect(lines).toHaveLength(2);
    expect(lines.map((line) => widthOf(line, 'name') <= WIDTH)).toEqual([true, true]);
    expect(lines.join('')).toMatch(/^tcp (\w)\1{15,}[^…]*…[^…]*\w\.example\.com:443$/);
  });

  it('is whole if it fits into two lines, however many letters it has', () => {
    const name = 'i'.repeat(173);

    expect(nameLinesOf(name, 'name', WIDTH, 2).join('')).toBe(name);
  });

  it('is whole if it has room', () => {
    expect(nameLinesOf('tcp db.example.com:443', 'name', WIDTH, 2)).toEqual(['tcp db.example.com:443']);
  });
});

describe('the lines of a headline', () => {
  it('do not part a number from its unit', () => {
    const text = 'The port is open (median round trip 0.064 ms).';
    const width = widthOf('The port is open (median round trip 0.064', 'text') + 4;

    expect(linesOf(text, 'text', width, 4)).toEqual(['The port is open (median round trip', '0.064 ms).']);
    expect(linesOf('20 of 40 probes', 'text', widthOf('20 of 40', 'text') + 4, 4)).toEqual(['20 of 40', 'probes']);
  });
});
