import { isIP } from 'node:net';

import { describe, expect, it } from '@jest/globals';

import { addressBytes, addressText, mappedIpv4, networkText, readAddress } from './address.ts';

/** Address family by the number of bytes. */
const FAMILY: Readonly<Record<number, number>> = { 0: 0, 4: 4, 16: 6 };

/** Numbers that look random and are the same in every run: Park and Miller's generator. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return Math.floor((state / 2_147_483_647) * below);
  };
}

describe('reading an address', () => {
  it.each([
    ['192.0.2.1', 'c0000201'],
    ['0.0.0.0', '00000000'],
    ['255.255.255.255', 'ffffffff'],
    ['::', '00000000000000000000000000000000'],
    ['::1', '00000000000000000000000000000001'],
    ['1::', '00010000000000000000000000000000'],
    ['fe80::', 'fe800000000000000000000000000000'],
    ['2001:db8::5:6', '20010db8000000000000000000050006'],
    ['2001:db8:1:2:3:4:5:6', '20010db8000100020003000400050006'],
    ['::ffff:192.0.2.1', '00000000000000000000ffffc0000201'],
  ])('takes %s, and writes it the same', (text, hex) => {
    expect(Buffer.from(addressBytes(text)).toString('hex')).toBe(hex);
    expect(addressText(Buffer.from(hex, 'hex'))).toBe(text);
  });

  it.each([
    ['a run that stands for one group', '1:2:3:4:5:6:7::', '00010002000300040005000600070000'],
    ['upper case', 'FE80::A9FE:A9FE', 'fe8000000000000000000000a9fea9fe'],
    ['leading zeros of a group', '2001:0DB8:0000::', '20010db8000000000000000000000000'],
    ['a dotted quad after six groups', '0:0:0:0:0:ffff:1.2.3.4', '00000000000000000000ffff01020304'],
  ])('takes %s', (_reason, text, hex) => {
    expect(Buffer.from(addressBytes(text)).toString('hex')).toBe(hex);
  });

  it.each([
    ['an empty text', ''],
    ['three octets', '127.0.1'],
    ['two octets', '127.1'],
    ['five octets', '1.2.3.4.5'],
    ['a leading zero', '127.0.0.01'],
    ['octal', '0177.0.0.1'],
    ['hexadecimal', '0x7f.0.0.1'],
    ['a 32-bit number', '2130706433'],
    ['an octet above 255', '1.2.3.256'],
    ['a sign', '+1.2.3.4'],
    ['a trailing dot', '1.2.3.4.'],
    ['a blank', ' 1.2.3.4'],
    ['a line feed at the end', '1.2.3.4\n'],
    ['other digits', '１.2.3.4'],
    ['an empty octet', '1..3.4'],
    ['brackets', '[::1]'],
    ['a zone', 'fe80::1%eth0'],
    ['an empty zone', '::1%'],
    ['two runs', '1::2::3'],
    ['three colons', ':::'],
    ['one colon', ':'],
    ['a colon in front', ':1::'],
    ['a colon behind', '1:2:3:4:5:6:7:'],
    ['a run that stands for no group', '1:2:3:4::5:6:7:8'],
    ['nine groups', '1:2:3:4:5:6:7:8:9'],
    ['seven groups', '1:2:3:4:5:6:7'],
    ['five digits in a group', '12345::'],
    ['a letter that is no digit', '::g'],
    ['a dotted quad in front', '1.2.3.4::'],
    ['a dotted quad in the middle', '::1.2.3.4:5'],
    ['an octal quad', '::ffff:0177.0.0.1'],
    ['a short quad', '::ffff:127.1'],
    ['a quad that is too much', '1:2:3:4:5:6:7:1.2.3.4'],
    ['a port', '[::1]:80'],
    ['a prefix', '::1/128'],
    ['a NUL', '8.8.8.8\0'],
    ['a very long text', '1'.repeat(100_000)],
  ])('refuses %s', (_reason, text) => {
    expect(readAddress(text)).toBeUndefined();
    expect(() => addressBytes(text)).toThrow(RangeError);
  });

  it('takes exactly what node:net takes, but for zones, in texts made of the parts of addresses', () => {
    const parts = ['0', '1', 'ffff', 'F', '00', '255', '256', '10000', ':', '::', '.', '1.2.3.4', '%', '0x1', '-', ''];
    const random = seeded(7);
    const wrong: string[] = [];
    let taken = 0;
    for (let round = 0; round < 40_000; round += 1) {
      const text = Array.from({ length: 1 + random(15) }, () => parts[random(parts.length)]).join('');
      const family = text.includes('%') ? 0 : isIP(text);
      if (FAMILY[readAddress(text)?.length ?? 0] !== family) wrong.push(text);
      taken += Math.sign(family);
    }
    expect(wrong).toEqual([]);
    expect(taken).toBeGreaterThan(100);
  });
});

describe('writing an address', () => {
  it.each([
    ['a dotted quad', '192.0.2.1', '192.0.2.1'],
    ['all zeros', '0:0:0:0:0:0:0:0', '::'],
    ['no leading zeros (RFC 5952 section 4.1)', '2001:0db8::0001', '2001:db8::1'],
    ['one zero group stays (section 4.2.2)', '2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['the longest run (section 4.2.3)', '2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['the first of two runs (section 4.2.3)', '2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['lower case (section 4.3)', '2001:DB8::ABCD', '2001:db8::abcd'],
    ['a run at the end', '2001:db8:0:0:0:0:0:0', '2001:db8::'],
    ['IPv4-mapped with its quad (section 5)', '::ffff:7f00:1', '::ffff:127.0.0.1'],
    ['another embedding in hex', '64:ff9b::1.2.3.4', '64:ff9b::102:304'],
  ])('gives %s', (_reason, text, expected) => {
    expect(addressText(addressBytes(text))).toBe(expected);
  });

  it('gives a text that reads back as the same address', () => {
    const random = seeded(11);
    const wrong: string[] = [];
    for (let round = 0; round < 2_000; round += 1) {
      const groups = Array.from({ length: 8 }, () => (random(2) === 0 ? 0 : random(65_536)));
      const bytes = Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
      const text = addressText(bytes);
      if (!Buffer.from(bytes).equals(addressBytes(text)) || isIP(text) !== 6) wrong.push(text);
    }
    expect(wrong).toEqual([]);
  });
});

describe('the network of an address', () => {
  it.each([
    ['8.8.8.8', 24, '8.8.8.0/24'],
    ['8.8.255.8', 21, '8.8.248.0/21'],
    ['8.8.8.8', 32, '8.8.8.8/32'],
    ['8.8.8.8', 0, '0.0.0.0/0'],
    ['2001:4860:4860::8888', 32, '2001:4860::/32'],
    ['2001:4860:ffff::8888', 36, '2001:4860:f000::/36'],
    ['2001:0:1:0:0:0:1:1', 128, '2001:0:1::1:1/128'],
    ['2001:1:0:1:1:1:1:1', 128, '2001:1:0:1:1:1:1:1/128'],
  ])('of %s and %d bits is %s', (text, length, network) => {
    expect(networkText(addressBytes(text), length)).toBe(network);
  });
});

describe('IPv4 in IPv6', () => {
  it.each([
    ['::ffff:8.8.4.4', '8.8.4.4'],
    ['0:0:0:0:0:FFFF:808:404', '8.8.4.4'],
    ['::8.8.4.4', undefined],
    ['64:ff9b::8.8.4.4', undefined],
    ['1::ffff:8.8.4.4', undefined],
    ['8.8.4.4', undefined],
  ])('in %s is %s', (text, ipv4) => {
    const mapped = mappedIpv4(addressBytes(text));

    expect(mapped === undefined ? undefined : addressText(mapped)).toBe(ipv4);
  });
});
