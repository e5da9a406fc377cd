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

  it.each(['', '127.1', '0177.0.0.1', '2130706433', '[::1]', 'fe80::1%eth0'])('refuses %j', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });
});

describe('writing an address', () => {
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
