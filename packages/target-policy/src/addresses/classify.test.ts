import { BlockList } from 'node:net';

import { describe, expect, it } from '@jest/globals';

import { ADDRESS_BITS, formatAddress, parseAddress, type Address } from './address.ts';
import { classifyAddress, isLinkLocalOrMetadata, isPrivateAddress } from './classify.ts';
import { lastAddress, parsePrefix } from './prefix.ts';
import { specialData } from './special-data.ts';

const rows = specialData.ranges.map((row) => [row.cidr, row] as const);

const lists = new Map(
  specialData.ranges.map(({ cidr }) => {
    const [network, length] = cidr.split('/');
    const list = new BlockList();
    list.addSubnet(network!, Number(length), network!.includes(':') ? 'ipv6' : 'ipv4');
    return [cidr, list];
  }),
);

/**
 * Reference implementation: the longest prefix of the table that contains the address, as `BlockList` of node:net
 * decides.
 */
function expectedRow(address: Address): string {
  const family = address.family === 4 ? 'ipv4' : 'ipv6';
  const matching = specialData.ranges.filter(({ cidr }) => {
    if (cidr.includes(':') !== (address.family === 6)) return false;
    return lists.get(cidr)!.check(formatAddress(address), family);
  });
  return matching.toSorted((a, b) => Number(b.cidr.split('/')[1]) - Number(a.cidr.split('/')[1]))[0]!.cidr;
}

describe('the table of special-purpose prefixes', () => {
  it('has the 70 rows of the release, each prefix once', () => {
    expect(new Set(rows.map(([cidr]) => cidr)).size).toBe(70);
  });

  it('gives clients reasons, and no notes for maintainers', () => {
    const reasons = [...specialData.ranges, ...specialData.patterns].map(({ reason }) => reason);

    expect(reasons.filter((reason) => /ipaddr\.js|CVE-|#\d|registry|refuse when|by default/i.test(reason))).toEqual([]);
  });

  it.each(rows)('decides about the edges of %s by the longest prefix', (cidr) => {
    const prefix = parsePrefix(cidr)!;
    const { family, first } = prefix;
    const last = lastAddress(prefix).value;
    const limit = (1n << BigInt(ADDRESS_BITS[family])) - 1n;
    const edges = [first - 1n, first, last, last + 1n].filter((value) => value >= 0n && value <= limit);
    for (const value of edges) {
      const row = specialData.ranges.find((each) => each.cidr === expectedRow({ family, value }))!;

      expect(classifyAddress({ family, value })).toEqual({
        refused: row.refuse,
        rule: { cidr: row.cidr, name: row.name, rfc: row.rfc, reason: row.reason },
      });
    }
  });

  it.each(rows.filter(([, row]) => row.refuse))('refuses the first and the last address of %s', (cidr) => {
    const prefix = parsePrefix(cidr)!;

    // A refused prefix may contain permitted ones, but its first and last address are refused.
    expect(classifyAddress({ family: prefix.family, value: prefix.first }).refused).toBe(true);
    expect(classifyAddress(lastAddress(prefix)).refused).toBe(true);
  });

  it('decides as the slow way does for addresses spread over the whole space', () => {
    for (let step = 0n; step < 512n; step += 1n) {
      const ipv4: Address = { family: 4, value: step * 8_388_593n };
      const ipv6: Address = { family: 6, value: step * ((1n << 119n) - 12_345n) };

      expect(classifyAddress(ipv4).rule.cidr).toBe(expectedRow(ipv4));
      expect(classifyAddress(ipv6).rule.cidr).toBe(expectedRow(ipv6));
    }
  });
});

describe('classifying an address', () => {
  it.each([
    ['a public IPv4 address', '8.8.8.8', '0.0.0.0/0'],
    ['a public IPv6 address', '2606:4700:4700::1111', '2000::/3'],
    ['AS112 inside a separate block', '192.175.48.1', '192.175.48.0/24'],
    ['AS112 inside the refused 2001::/23', '2001:4:112::1', '2001:4:112::/48'],
    ['the neighbour below 10/8', '9.255.255.255', '0.0.0.0/0'],
    ['the neighbour above 172.16/12', '172.32.0.0', '0.0.0.0/0'],
    ['an interface identifier that is almost ISATAP', '2606:4700::1:5efe:8.8.8.8', '2000::/3'],
  ])('admits %s', (_reason, text, cidr) => {
    expect(classifyAddress(text)).toMatchObject({ refused: false, rule: { cidr } });
    expect(isPrivateAddress(text)).toBe(false);
  });

  it.each([
    ['loopback', '127.0.0.1', '127.0.0.0/8'],
    ['all of loopback', '127.255.255.254', '127.0.0.0/8'],
    ['the address that Linux takes for loopback', '0.0.0.0', '0.0.0.0/32'],
    ['cloud metadata', '169.254.169.254', '169.254.0.0/16'],
    ['Azure’s public-looking metadata', '168.63.129.16', '168.63.129.16/32'],
    ['carrier-grade NAT', '100.127.255.255', '100.64.0.0/10'],
    ['limited broadcast', '255.255.255.255', '255.255.255.255/32'],
    ['multicast', '239.255.255.255', '224.0.0.0/4'],
    ['IPv6 loopback', '::1', '::1/128'],
    ['the unspecified address', '::', '::/128'],
    ['IPv4-mapped loopback', '::ffff:127.0.0.1', '::ffff:0:0/96'],
    ['an IPv4-mapped public address', '::ffff:8.8.8.8', '::ffff:0:0/96'],
    ['IPv4-compatible', '::7f00:1', '::/96'],
    ['IPv4-translated', '::ffff:0:127.0.0.1', '::ffff:0:0:0/96'],
    ['NAT64', '64:ff9b::10.0.0.1', '64:ff9b::/96'],
    ['local NAT64', '64:ff9b:1::10.0.0.1', '64:ff9b:1::/48'],
    ['6to4', '2002:7f00:1::', '2002::/16'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001::/32'],
    ['ISATAP', '2606:4700::5efe:127.0.0.1', '0:0:0:0:0:5efe:0:0 under mask 0:0:0:0:fdff:ffff:0:0'],
    [
      'ISATAP with the universal bit',
      '2606:4700::200:5efe:8.8.8.8',
      '0:0:0:0:0:5efe:0:0 under mask 0:0:0:0:fdff:ffff:0:0',
    ],
    ['unique local', 'fd00:ec2::254', 'fd00:ec2::/32'],
    ['link local', 'fe80::1', 'fe80::/10'],
    ['site local', 'fec0::1', 'fec0::/10'],
    ['outside 2000::/3, below', '1fff:ffff::', '::/0'],
    ['outside 2000::/3, above', '4000::', '::/0'],
    ['documentation', '2001:db8::1', '2001:db8::/32'],
  ])('refuses %s', (_reason, text, cidr) => {
    expect(classifyAddress(text)).toMatchObject({ refused: true, rule: { cidr } });
    expect(isPrivateAddress(text)).toBe(true);
  });

  it.each([
    ['a zone', '::1%lo'],
    ['a short form', '127.1'],
    ['a name', 'localhost'],
    ['nothing', ''],
    ['brackets', '[2606:4700::1]'],
  ])('refuses what it cannot read: %s', (_reason, text) => {
    expect(classifyAddress(text).refused).toBe(true);
  });
});

describe('link-local and metadata addresses', () => {
  it.each([
    ['the metadata service', '169.254.169.254', true],
    ['any link-local address', '169.254.1.1', true],
    ['metadata among carrier-grade addresses', '100.100.100.200', true],
    ['metadata among unique-local addresses', 'fd00:ec2::254', true],
    ['metadata in an IPv4-mapped address', '::ffff:169.254.169.254', true],
    ['metadata behind NAT64', '64:ff9b::a9fe:a9fe', true],
    ['metadata behind local NAT64 of /48', '64:ff9b:1:a9fe:a9:fe00::', true],
    ['metadata in 6to4', '2002:a9fe:a9fe::1', true],
    ['metadata as a Teredo client', '2001:0:4136:e378:8000:63bf:5601:5601', true],
    ['metadata in ISATAP', '2606:4700::5efe:169.254.169.254', true],
    ['a private address', '10.0.0.1', false],
    ['loopback', '127.0.0.1', false],
    ['IPv6 loopback', '::1', false],
    ['a unique-local address', 'fd00:1::1', false],
  ])('are stated: %s', (_reason, text, expected) => {
    expect(isLinkLocalOrMetadata(parseAddress(text)!)).toBe(expected);
  });
});
