import { describe, expect, it } from '@jest/globals';

import { formatAddress, parseAddress } from './address.ts';
import { embeddedIpv4, translatedIpv4 } from './embedded.ts';

describe('the IPv4 addresses that an address carries', () => {
  it.each([
    ['IPv4-compatible (RFC 4291 section 2.5.5.1)', '::192.0.2.33', ['192.0.2.33']],
    ['IPv4-mapped (section 2.5.5.2)', '::ffff:192.0.2.33', ['192.0.2.33']],
    ['IPv4-translated (RFC 2765)', '::ffff:0:192.0.2.33', ['192.0.2.33']],
    ['NAT64 (RFC 6052)', '64:ff9b::192.0.2.33', ['192.0.2.33']],
    ['local NAT64, as /96 and as /48 (RFC 8215)', '64:ff9b:1:c000:2:2100::7', ['0.0.0.7', '192.0.2.33']],
    ['6to4 (RFC 3056)', '2002:c000:221::1', ['192.0.2.33']],
    ['Teredo, server and client (RFC 4380)', '2001:0:4136:e378:8000:63bf:3fff:fdd2', ['65.54.227.120', '192.0.2.45']],
    ['ISATAP (RFC 5214)', '2606:4700::5efe:192.0.2.33', ['192.0.2.33']],
    ['ISATAP with the universal bit', '2606:4700::200:5efe:192.0.2.33', ['192.0.2.33']],
    ['the unspecified address carries none', '::', []],
    ['loopback carries none', '::1', []],
    ['a neighbour of 6to4 carries none', '2003:c000:221::1', []],
    ['another identifier carries none', '2606:4700::100:5efe:192.0.2.33', []],
    ['an IPv4 address carries none', '192.0.2.33', []],
  ])('%s', (_reason, text, expected) => {
    expect(embeddedIpv4(parseAddress(text)!).map(formatAddress)).toEqual(expected);
  });

  it.each([
    ['/32', '2001:db8:c000:221::', 32],
    ['/40', '2001:db8:1c0:2:21::', 40],
    ['/48', '2001:db8:122:c000:2:2100::', 48],
    ['/56', '2001:db8:122:3c0:0:221::', 56],
    ['/64', '2001:db8:122:344:c0:2:2100::', 64],
    ['/96', '2001:db8:122:344::192.0.2.33', 96],
  ])('sit behind a translation prefix of %s as RFC 6052 section 2.4 shows', (_reason, text, length) => {
    const value = translatedIpv4(parseAddress(text)!.value, length);

    expect(formatAddress({ family: 4, value })).toBe('192.0.2.33');
  });
});
