import { describe, expect, it } from '@jest/globals';

import { nearestWord } from './nearest-word.ts';

const known = ['host', 'insecureSSL', 'limit', 'locations', 'options', 'port', 'probes', 'recordType', 'type'];

describe('nearestWord', () => {
  it.each([
    ['a letter is missing', 'hst', 'host'],
    ['a letter is too many', 'probess', 'probes'],
    ['two letters are swapped', 'prot', 'port'],
    ['the case is another', 'RECORDTYPE', 'recordType'],
    ['nothing is near', 'target', undefined],
    ['a short word is all different', 'ab', undefined],
    ['half of a short word is different', 'nope', undefined],
    ['it is nothing', '', undefined],
    ['it is long', 'x'.repeat(10_000), undefined],
  ])('finds what was meant when %s', (_reason, written, meant) => {
    expect(nearestWord(written, known)).toBe(meant);
  });
});
