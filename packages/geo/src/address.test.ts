import { describe, expect, it } from '@jest/globals';

import { parseAddress } from './address.ts';

describe('reading an address', () => {
  it.each([
    ['a dotted quad', '8.8.4.4', 4, '8.8.4.4'],
    ['IPv4 in IPv6, dotted', '::ffff:8.8.4.4', 4, '8.8.4.4'],
    ['IPv4 in IPv6, hexadecimal and upper case', '::FFFF:808:404', 4, '8.8.4.4'],
    ['IPv4 in IPv6, every group written', '0:0:0:0:0:ffff:808:404', 4, '8.8.4.4'],
    ['IPv6 with a gap', '2001:4860:4860::8888', 6, '2001:4860:4860::8888'],
    ['IPv6 that ends in a dotted quad', '64:ff9b::8.8.4.4', 6, '64:ff9b::808:404'],
  ])('takes %s', (_, text, family, canonical) => {
    expect(parseAddress(text)).toMatchObject({ family, text: canonical });
  });

  it.each([
    ['nothing', ''],
    ['a name', 'dns.google'],
    ['octal', '010.0.0.1'],
    ['a short form', '8.8'],
    ['five octets', '8.8.8.8.8'],
    ['an octet too large', '8.8.8.256'],
    ['an empty octet', '8..8.8'],
    ['a space', ' 8.8.8.8'],
    ['a zone', 'fe80::1%eth0'],
    ['brackets', '[2001:4860:4860::8888]'],
    ['two gaps', '2001::4860::8888'],
    ['full-width digits', '\uFF18.8.8.8'],
    ['a NUL', '8.8.8.8\0'],
    ['a very long text', '1'.repeat(100_000)],
  ])('refuses %s', (_, text) => {
    expect(parseAddress(text)).toBeNull();
  });

  it('reads the bytes of every group', () => {
    expect(parseAddress('2001:db8:0:1::ff')?.bytes).toEqual(
      Uint8Array.of(0x20, 1, 0x0d, 0xb8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xff),
    );
  });
});
