import { describe, expect, it } from '@jest/globals';

import { parseAddress } from './address.ts';
import { isSpecial } from './special-addresses.ts';

describe('addresses without a place', () => {
  it.each([
    ['this network', '0.1.2.3'],
    ['private', '10.255.255.255'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['private, in IPv6', '::ffff:192.168.1.1'],
    ['carrier-grade NAT', '100.127.255.255'],
    ['loopback', '127.0.0.1'],
    ['link-local and metadata', '169.254.169.254'],
    ['protocol assignments', '192.0.0.9'],
    ['documentation', '192.0.2.1'],
    ['documentation', '198.51.100.1'],
    ['documentation', '203.0.113.1'],
    ['benchmarking', '198.19.0.1'],
    ['multicast', '224.0.0.1'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['IPv4-compatible', '::8.8.8.8'],
    ['NAT64', '64:ff9b::8.8.8.8'],
    ['unique local', 'fd00::1'],
    ['link-local', 'fe80::1'],
    ['multicast', 'ff02::1'],
    ['Teredo', '2001::1'],
    ['ORCHIDv2', '2001:20::1'],
    ['documentation', '2001:db8::1'],
    ['documentation', '3fff:fff::1'],
    ['6to4', '2002:808:808::1'],
    ['segment routing', '5f00::1'],
  ])('%s: %s', (_, text) => {
    expect(isSpecial(parseAddress(text)!)).toBe(true);
  });

  it.each([
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.255.255',
    '172.32.0.1',
    '192.0.1.1',
    '198.17.255.255',
    '198.20.0.1',
    '223.255.255.255',
    '2001:200::1',
    '2001:4860:4860::8888',
    '2003::1',
    '2620:4f:8000::1',
    '3fff:1000::1',
  ])('are not %s', (text) => {
    expect(isSpecial(parseAddress(text)!)).toBe(false);
  });
});
