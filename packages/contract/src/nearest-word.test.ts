import { describe, expect, it } from '@jest/globals';

import { nearestValue, nearestWord } from './nearest-word.ts';

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

describe('nearestValue', () => {
  it.each([
    ['a family has a prefix', 'IPv6', [4, 6, 'both'], '6'],
    ['a family is a text', '4', [4, 6, 'both'], '4'],
    ['two letters are swapped', 'boht', [4, 6, 'both'], 'both'],
    ['the case is another', 'get', ['GET', 'HEAD', 'OPTIONS'], 'GET'],
    ['a number is not allowed', 5, [4, 6, 'both'], undefined],
    ['it is no word', { family: 4 }, [4, 6, 'both'], undefined],
  ])('finds what was meant when %s', (_reason, written, allowed, meant) => {
    expect(nearestValue(written, allowed)).toBe(meant);
  });
});
