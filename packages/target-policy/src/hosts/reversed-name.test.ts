import { describe, expect, it } from '@jest/globals';

import { formatPrefix } from '../addresses/prefix.ts';
import { reversedPrefix } from './reversed-name.ts';

const nibbles = '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2';

describe('a reversed name', () => {
  it.each([
    ['a whole IPv4 address', '4.3.2.1.in-addr.arpa', '1.2.3.4/32'],
    ['a network', '168.192.in-addr.arpa', '192.168.0.0/16'],
    ['all of IPv4', 'in-addr.arpa', '0.0.0.0/0'],
    ['a whole IPv6 address', `${nibbles}.ip6.arpa`, '2001:db8::1/128'],
    ['an IPv6 network', '8.b.d.0.1.0.0.2.ip6.arpa', '2001:db8::/32'],
    ['all of IPv6', 'ip6.arpa', '::/0'],
    ['a service below a network', 'b._dns-sd._udp.0.168.192.in-addr.arpa', '192.168.0.0/24'],
    ['labels below a whole address', '9.4.3.2.1.in-addr.arpa', '1.2.3.4/32'],
    ['a label with a leading zero ends it', '04.3.2.1.in-addr.arpa', '1.2.3.0/24'],
    ['a label above 255 ends it', '256.2.1.in-addr.arpa', '1.2.0.0/16'],
    ['two nibbles in one label end it', '12.0.0.2.ip6.arpa', '2000::/12'],
  ])('is about %s', (_reason, name, expected) => {
    expect(formatPrefix(reversedPrefix(name)!)).toBe(expected);
  });

  it.each([
    ['another name', 'example.com'],
    ['another name under arpa', 'home.arpa'],
    ['a name that only ends alike', 'xin-addr.arpa'],
    ['the zone within another name', '1.in-addr.arpa.example.com'],
  ])('is not %s', (_reason, name) => {
    expect(reversedPrefix(name)).toBeUndefined();
  });
});
