import { describe, expect, it } from '@jest/globals';

import { parseAddress } from './address.ts';
import { covers, createPrefixTable, formatPrefix, lastAddress, parsePrefix } from './prefix.ts';

describe('reading a prefix', () => {
  it.each([
    ['a CIDR', '10.0.0.0/8', '10.0.0.0/8'],
    ['an address', '192.0.2.1', '192.0.2.1/32'],
    ['an IPv6 address', '2001:DB8::1', '2001:db8::1/128'],
    ['everything', '0.0.0.0/0', '0.0.0.0/0'],
    ['an IPv6 CIDR', '2000::/3', '2000::/3'],
    ['an IPv4-mapped CIDR', '::ffff:0:0/96', '::ffff:0.0.0.0/96'],
  ])('takes %s', (_reason, text, expected) => {
    expect(formatPrefix(parsePrefix(text)!)).toBe(expected);
  });

  it.each([
    ['bits beyond the length', '10.0.0.1/8'],
    ['bits beyond an IPv6 length', '2001:db8::1/32'],
    ['a length above 32', '10.0.0.0/33'],
    ['a length above 128', '::/129'],
    ['a length with a leading zero', '10.0.0.0/08'],
    ['a negative length', '10.0.0.0/-8'],
    ['no length', '10.0.0.0/'],
    ['a netmask', '10.0.0.0/255.0.0.0'],
    ['two lengths', '10.0.0.0/8/8'],
    ['a short network', '10/8'],
    ['a zone', 'fe80::%eth0/10'],
    ['blanks', ' 10.0.0.0/8'],
    ['a line feed', '10.0.0.0/8\n'],
    ['a name', 'localhost'],
    ['nothing', ''],
  ])('refuses %s', (_reason, text) => {
    expect(parsePrefix(text)).toBeUndefined();
  });
});

describe('a table of prefixes', () => {
  const table = createPrefixTable(
    ['10.0.0.0/8', '10.1.0.0/16', '10.1.2.0/24', '10.1.2.3', '255.255.255.255', '::/0', 'ff00::/8'].map(
      (cidr) => [parsePrefix(cidr)!, cidr] as const,
    ),
  );

  it.each([
    ['nothing before the first', '9.255.255.255', undefined],
    ['the outermost at its first address', '10.0.0.0', '10.0.0.0/8'],
    ['the next inside', '10.1.0.0', '10.1.0.0/16'],
    ['the innermost', '10.1.2.3', '10.1.2.3'],
    ['what is around it again', '10.1.2.4', '10.1.2.0/24'],
    ['and around that', '10.1.3.0', '10.1.0.0/16'],
    ['the outermost at its last address', '10.255.255.255', '10.0.0.0/8'],
    ['nothing after the last', '11.0.0.0', undefined],
    ['the last address of all', '255.255.255.255', '255.255.255.255'],
    ['the other family apart', '::a00:1', '::/0'],
    ['the last IPv6 address of all', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'ff00::/8'],
  ])('finds %s', (_reason, address, expected) => {
    expect(table.find(parseAddress(address)!)).toBe(expected);
  });

  it.each([
    ['an equal one', '10.1.0.0/16', '10.1.0.0/16'],
    ['the longest around', '10.1.128.0/17', '10.1.0.0/16'],
    ['none that it only overlaps', '8.0.0.0/6', undefined],
  ])('finds for a prefix %s', (_reason, prefix, expected) => {
    expect(table.findCovering(parsePrefix(prefix)!)).toBe(expected);
  });

  it('finds nothing where it is empty', () => {
    expect(createPrefixTable([]).find(parseAddress('10.0.0.1')!)).toBeUndefined();
  });
});

describe('a prefix', () => {
  it('ends with all its host bits set', () => {
    expect(lastAddress(parsePrefix('10.0.0.0/8')!)).toEqual(parseAddress('10.255.255.255'));
    expect(lastAddress(parsePrefix('2000::/3')!)).toEqual(parseAddress('3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'));
  });

  it('covers no prefix of the other family', () => {
    expect(covers(parsePrefix('::/0')!, parsePrefix('10.0.0.0/8')!)).toBe(false);
  });
});
