import { describe, expect, it } from '@jest/globals';

import { isMetricsAddress } from './metrics-addresses.ts';

describe('an address of metrics', () => {
  it.each(['192.0.2.5:9464', '[2001:db8::5]:9464', 'fra-1.example.net:1', 'demo_1:65535', 'localhost:80'])(
    'has host and port: %s',
    (text) => {
      expect(isMetricsAddress(text)).toBe(true);
    },
  );

  it.each([
    ['no port', '192.0.2.5'],
    ['no host', ':9464'],
    ['port 0', 'a:0'],
    ['too large a port', 'a:65536'],
    ['IPv6 without brackets', '2001:db8::5:9464'],
    ['a name in brackets', '[a]:9464'],
    ['an address with too few parts', '192.0.2:9464'],
    ['a URL', 'http://a:9464'],
    ['a path', 'a:9464/metrics'],
    ['a label that begins with a hyphen', '-a:9464'],
    ['a line break', 'a:9464\n'],
    ['nothing', ''],
  ])('is refused with %s', (_reason, text) => {
    expect(isMetricsAddress(text)).toBe(false);
  });
});
