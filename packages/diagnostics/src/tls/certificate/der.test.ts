import { describe, expect, it } from '@jest/globals';

import { DerError, oidOf, onlyValue, tags, timeOf, valuesOf } from './der.ts';

describe('a reader of DER', () => {
  it('gives values with their tags, contents and whole bytes', () => {
    const [first, second, ...more] = valuesOf(bytes('02 01 05 04 81 02 61 62'), 2);

    expect(first).toEqual({ tag: tags.integer, content: bytes('05'), whole: bytes('02 01 05') });
    expect(second).toEqual({ tag: tags.octetString, content: bytes('61 62'), whole: bytes('04 81 02 61 62') });
    expect(more).toEqual([]);
  });

  it.each([
    ['a tag alone', '02'],
    ['a length beyond the end', '04 05 61'],
    ['a length of many bytes beyond the end', '04 84 ff ff ff ff 61'],
    ['a length of five bytes', '04 85 00 00 00 00 01 61'],
    ['a length that breaks off', '04 82 01'],
    ['an indefinite length', '30 80 02 01 05 00 00'],
    ['a tag of several bytes', '1f 81 01 00'],
    ['more values than allowed', '02 01 05 02 01 05 02 01 05'],
  ])('refuses %s', (_reason, hexadecimal) => {
    expect(() => valuesOf(bytes(hexadecimal), 2)).toThrow(DerError);
  });

  it.each([
    ['nothing', ''],
    ['another tag', '04 01 05'],
    ['two values', '02 01 05 02 01 05'],
  ])('refuses %s where one value belongs', (_reason, hexadecimal) => {
    expect(() => onlyValue(bytes(hexadecimal), tags.integer)).toThrow(DerError);
  });

  it.each([
    ['06 03 2b 65 70', '1.3.101.112'],
    ['06 09 2a 86 48 86 f7 0d 01 01 0b', '1.2.840.113549.1.1.11'],
    ['06 03 88 37 03', '2.999.3'],
    ['06 03 2b 65 f0', null],
    ['06 00', null],
    ['06 0b 2b ff ff ff ff ff ff ff ff ff 7f', null],
    ['02 01 05', null],
  ])('reads the object identifier %s as %s', (hexadecimal, expected) => {
    const [value] = valuesOf(bytes(hexadecimal), 1);

    if (expected === null) expect(() => oidOf(value!)).toThrow(DerError);
    else expect(oidOf(value!)).toBe(expected);
  });

  it.each([
    ['20261121020304Z', '2026-11-21T02:03:04.000Z'],
    ['20261321020304Z', null],
    ['20260230020304Z', null],
    ['20261121240000Z', null],
    ['20261121020304.5Z', null],
    ['2611210203Z', null],
    ['', null],
  ])('reads the time %s as %s', (text, expected) => {
    const content = Buffer.from(text);
    const value = { tag: tags.generalizedTime, content, whole: content };

    if (expected === null) expect(() => timeOf(value)).toThrow(DerError);
    else expect(timeOf(value).toISOString()).toBe(expected);
  });
});

function bytes(hexadecimal: string): Buffer {
  return Buffer.from(hexadecimal.replaceAll(' ', ''), 'hex');
}
