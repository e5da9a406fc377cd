import { describe, expect, it } from '@jest/globals';

import { addressBytes, addressText } from './address-bytes.ts';

describe('addresses as bytes', () => {
  it.each([
    ['192.0.2.1', 'c0000201'],
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['2001:db8::5:6', '20010db8000000000000000000050006'],
    ['2001:db8:1:2:3:4:5:6', '20010db8000100020003000400050006'],
    ['fe80::', 'fe800000000000000000000000000000'],
    ['::ffff:192.0.2.1', '00000000000000000000ffffc0000201'],
  ])('reads and writes %s', (text, hex) => {
    expect(Buffer.from(addressBytes(text)).toString('hex')).toBe(hex);
    expect(addressText(Buffer.from(hex, 'hex'))).toBe(text);
  });

  it('writes IPv6 canonically however it was written', () => {
    expect(addressText(addressBytes('2001:0DB8:0:0:0:0:0:1'))).toBe('2001:db8::1');
  });

  it.each(['', '1:2:3', '1:2:3:4:5:6:7:8:9', '1::2::3:4:5:6:7:8:9'])('refuses %j', (text) => {
    expect(() => addressBytes(text)).toThrow(RangeError);
  });
});
