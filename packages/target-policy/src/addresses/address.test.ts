import { isIP } from 'node:net';

import { describe, expect, it } from '@jest/globals';

import { formatAddress, parseAddress } from './address.ts';
import { seeded } from '../../test/seeded.ts';

describe('reading an address', () => {
  it.each([
    ['the lowest', '0.0.0.0', 4, 0n],
    ['the highest', '255.255.255.255', 4, 0xffffffffn],
    ['loopback', '127.0.0.1', 4, 0x7f000001n],
    ['the unspecified address', '::', 6, 0n],
    ['IPv6 loopback', '::1', 6, 1n],
    ['all eight groups', '1:2:3:4:5:6:7:8', 6, 0x10002000300040005000600070008n],
    ['a run at the end', '1::', 6, 1n << 112n],
    ['a run that stands for one group', '1:2:3:4:5:6:7::', 6, 0x10002000300040005000600070000n],
    ['upper case', 'FE80::A9FE:A9FE', 6, (0xfe80n << 112n) | 0xa9fea9fen],
    ['leading zeros of a group', '2001:0DB8:0000::', 6, 0x20010db8n << 96n],
    ['a dotted quad at the end', '::ffff:127.0.0.1', 6, 0xffff7f000001n],
    ['a dotted quad after six groups', '0:0:0:0:0:ffff:1.2.3.4', 6, 0xffff01020304n],
  ] as const)('takes %s', (_reason, text, family, value) => {
    expect(parseAddress(text)).toEqual({ family, value });
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
  ])('refuses %s', (_reason, text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it('takes exactly what node:net takes, but for zones, in texts made of the parts of addresses', () => {
    const parts = ['0', '1', 'ffff', 'F', '00', '255', '256', '10000', ':', '::', '.', '1.2.3.4', '%', '0x1', '-', ''];
    const random = seeded(7);
    const wrong: string[] = [];
    let taken = 0;
    for (let round = 0; round < 40_000; round += 1) {
      const text = Array.from({ length: 1 + random(15) }, () => parts[random(parts.length)]).join('');
      const family = text.includes('%') ? 0 : isIP(text);
      if ((parseAddress(text)?.family ?? 0) !== family) wrong.push(text);
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
    expect(formatAddress(parseAddress(text)!)).toBe(expected);
  });

  it('reads back as the same address', () => {
    const random = seeded(11);
    const wrong: string[] = [];
    for (let round = 0; round < 2_000; round += 1) {
      const groups = Array.from({ length: 8 }, () => (random(2) === 0 ? 0 : random(65_536)));
      const value = groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);
      const text = formatAddress({ family: 6, value });
      const read = parseAddress(text);
      if (read?.family !== 6 || read.value !== value || isIP(text) !== 6) wrong.push(text);
    }
    expect(wrong).toEqual([]);
  });
});
