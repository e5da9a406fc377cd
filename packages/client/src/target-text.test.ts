import { describe, expect, it } from '@jest/globals';

import { hostFor, portIn, readTarget } from './target-text.ts';

describe('a typed target', () => {
  it.each([
    ['a name', 'example.com', { host: 'example.com', isUrl: false }],
    ['spaces around it', '  example.com ', { host: 'example.com', isUrl: false }],
    ['a name with a port', 'example.com:8443', { host: 'example.com', port: '8443', isUrl: false }],
    ['an IPv6 address, which is full of colons', '2001:db8::1', { host: '2001:db8::1', isUrl: false }],
    ['an IPv6 address in brackets', '[2001:db8::1]:53', { host: '2001:db8::1', port: '53', isUrl: false }],
    ['a URL', 'HTTPS://example.com/a?b', { host: 'HTTPS://example.com/a?b', isUrl: true }],
    ['a scheme that is no web page’s', 'ftp://example.com', { host: 'ftp://example.com', isUrl: false }],
  ])('is read: %s', (_reason, text, target) => {
    expect(readTarget(text)).toEqual(target);
  });

  it.each([
    ['url', 'example.com', 'https://example.com'],
    ['url', 'example.com:8443', 'https://example.com:8443'],
    ['url', 'example.com:80', 'http://example.com:80'],
    ['url', '[2001:db8::1]:80', 'http://[2001:db8::1]:80'],
    ['url', 'example.com:8443/a?b', 'https://example.com:8443/a?b'],
    ['url', 'example.com:80/a', 'http://example.com:80/a'],
    ['url', 'example.com/a:80', 'https://example.com/a:80'],
    ['url', '2001:db8::1', 'https://[2001:db8::1]'],
    ['url', 'http://example.com/x', 'http://example.com/x'],
    ['url', '', ''],
    ['host', 'https://example.com:8443/x', 'example.com'],
    ['host', 'http://[2001:db8::1]/', '2001:db8::1'],
    ['host', 'https://', 'https://'],
    ['name', 'https://example.com/', 'example.com'],
  ] as const)('becomes what the type wants: %s %s', (hostKind, text, host) => {
    expect(hostFor(hostKind, text)).toBe(host);
  });

  it.each([
    ['example.com:8443', '8443'],
    ['https://example.com/', '443'],
    ['http://example.com/', '80'],
    ['https://example.com:8443/', '8443'],
    ['https://', undefined],
    ['example.com', undefined],
  ])('names a port: %s', (text, port) => {
    expect(portIn(text)).toBe(port);
  });
});
