import { describe, expect, it } from '@jest/globals';

import { parseResolver, resolverText } from './resolver.ts';

describe('the text of a resolver', () => {
  it.each([
    ['a name', 'dns.google', { host: 'dns.google', port: undefined }],
    ['a name and a port', 'dns.google:853', { host: 'dns.google', port: 853 }],
    ['an IPv4 address', '9.9.9.9', { host: '9.9.9.9', port: undefined }],
    ['an IPv4 address and a port', '9.9.9.9:5353', { host: '9.9.9.9', port: 5353 }],
    ['an IPv6 address', '2620:fe::fe', { host: '2620:fe::fe', port: undefined }],
    ['an IPv6 address in brackets', '[2620:fe::fe]', { host: '2620:fe::fe', port: undefined }],
    ['an IPv6 address and a port', '[2620:fe::fe]:853', { host: '2620:fe::fe', port: 853 }],
  ])('is read: %s', (_reason, text, expected) => {
    expect(parseResolver(text)).toEqual(expected);
  });

  it.each([
    ['port 0', 'dns.google:0'],
    ['a port that does not fit', 'dns.google:65536'],
    ['no port after the colon', 'dns.google:'],
    ['a URL', 'https://dns.google/dns-query'],
    ['white space', 'dns google'],
    ['half a bracket', '[2620:fe::fe'],
    ['a zone', 'fe80::1%eth0'],
    ['brackets around IPv4', '[192.0.2.1]'],
    ['brackets around IPv4 and a port', '[192.0.2.1]:53'],
    ['brackets around a name', '[dead.beef]'],
    ['nothing', ''],
  ])('is refused: %s', (_reason, text) => {
    expect(parseResolver(text)).toBeUndefined();
  });

  it('names the port where it is not the usual one', () => {
    expect(resolverText('9.9.9.9', 53, 53)).toBe('9.9.9.9');
    expect(resolverText('9.9.9.9', 5353, 53)).toBe('9.9.9.9:5353');
    expect(resolverText('2620:fe::fe', 5353, 53)).toBe('[2620:fe::fe]:5353');
  });
});
