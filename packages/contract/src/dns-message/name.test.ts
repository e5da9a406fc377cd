import { describe, expect, it } from '@jest/globals';

import { decodeName, encodeName, reverseName } from './name.ts';

const read = (bytes: Uint8Array): string => decodeName(bytes, 0, bytes.length).text;

describe('a name', () => {
  it.each([
    ['the root', '.', '.'],
    ['nothing is the root too', '', '.'],
    ['plain', 'www.example.com', 'www.example.com.'],
    ['underscores and a wildcard', '*._tcp.example.com.', '*._tcp.example.com.'],
    ['an escaped dot at the end is part of the label', 'a\\.', 'a\\..'],
    ['an escaped backslash before the final dot', 'a\\\\.', 'a\\\\.'],
    ['octets by number', 'a\\000\\255b.c.', 'a\\000\\255b.c.'],
    ['characters that mean something in a zone file', '\\@\\$\\"\\(\\)\\;\\\\.x.', '\\@\\$\\"\\(\\)\\;\\\\.x.'],
    ['the longest label', `${'a'.repeat(63)}.`, `${'a'.repeat(63)}.`],
  ])('is read as it was written: %s', (_reason, text, expected) => {
    expect(read(encodeName(text))).toBe(expected);
  });

  it.each([
    ['an empty label', 'a..b'],
    ['a label of 64 octets', 'a'.repeat(64)],
    ['256 octets', Array(4).fill('a'.repeat(63)).join('.')],
    ['not ASCII', 'bücher.example'],
    ['an escape of nothing', 'a\\'],
    ['an escape above 255', '\\999'],
  ])('cannot be written with %s', (_reason, text) => {
    expect(() => encodeName(text)).toThrow(RangeError);
  });

  it.each([
    ['IPv4', [192, 0, 2, 1], '1.2.0.192.in-addr.arpa.'],
    [
      'IPv6',
      [0x20, 0x01, 0x0d, 0xb8, ...Array(8).fill(0), 0x05, 0x67, 0x89, 0xab],
      'b.a.9.8.7.6.5.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.',
    ],
  ])('of an address, backwards: %s', (_reason, address: number[], expected) => {
    expect(reverseName(Uint8Array.from(address))).toBe(expected);
  });
});
