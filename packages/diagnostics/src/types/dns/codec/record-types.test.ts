import { describe, expect, it } from '@jest/globals';

import { parseRecordType } from './record-types.ts';

describe('the name of a record type', () => {
  it.each([
    ['upper case', 'MX', 15, 'MX'],
    ['lower case', 'aaaa', 28, 'AAAA'],
    ['mixed case', 'Nsec3Param', 51, 'NSEC3PARAM'],
    ['above 255', 'caa', 257, 'CAA'],
    ['of 2025, without a specific text', 'cla', 263, 'CLA'],
    ['of 2025, by number', 'TYPE264', 264, 'IPN'],
    ['obsolete', 'wks', 11, 'WKS'],
    ['by number', 'TYPE65280', 65280, 'TYPE65280'],
    ['by the number of one that has a name', 'type28', 28, 'AAAA'],
  ])('is read: %s', (_reason, text, code, name) => {
    expect(parseRecordType(text)).toEqual({ ok: true, recordType: { code, name } });
  });

  it.each([
    ['ANY', 'any'],
    ['ANY by number', 'TYPE255'],
    ['a zone transfer', 'AXFR'],
    ['a zone transfer by number', 'TYPE252'],
    ['an incremental zone transfer', 'ixfr'],
    ['the mark of a name that does not exist', 'nxname'],
    ['EDNS', 'OPT'],
    ['EDNS by number', 'TYPE41'],
    ['type 0', 'TYPE0'],
  ])('is refused as a query or meta type: %s', (_reason, text) => {
    expect(parseRecordType(text)).toMatchObject({ ok: false, reason: expect.stringContaining('query or meta type') });
  });

  it.each([
    ['XM', 'MX'],
    ['mxx', 'MX'],
    ['MX1', 'MX'],
    ['nss', 'NS'],
    ['txxt', 'TXT'],
    ['AAA', 'AAAA'],
    ['cnmae', 'CNAME'],
  ])('is refused with the type that was probably meant: %s', (text, meant) => {
    expect(parseRecordType(text)).toMatchObject({ ok: false, reason: expect.stringMatching(`mean ${meant}\\?$`) });
  });

  it.each([
    ['no such name', 'FOO'],
    ['a number that does not fit', 'TYPE65536'],
    ['what every object has', 'constructor'],
    ['nothing', ''],
    ['white space', ' A'],
  ])('is refused as unknown: %s', (_reason, text) => {
    expect(parseRecordType(text)).toMatchObject({ ok: false, reason: expect.stringContaining('no such record type') });
  });
});
