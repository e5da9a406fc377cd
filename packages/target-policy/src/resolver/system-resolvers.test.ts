import { describe, expect, it } from '@jest/globals';

import { createSystemResolvers, withZones } from './system-resolvers.ts';

describe('the resolvers of the system', () => {
  it.each([
    ['a link-local one', ['fe80::53'], 'nameserver fe80::53%eth0\n', ['fe80::53%eth0']],
    ['one in brackets with a port', ['[fe80::53]:5353'], 'nameserver [fe80::53%eth0]:5353', ['[fe80::53%eth0]:5353']],
    ['one in another form', ['fe80::53'], 'nameserver FE80:0::53%wlan0 # router\n', ['fe80::53%wlan0']],
    [
      'the same address on two links, among others',
      ['192.0.2.1', 'fe80::1', 'fe80::1', '2001:db8::1'],
      'search example.com\nnameserver 192.0.2.1\nnameserver fe80::1%eth0\nnameserver fe80::1%eth1\nnameserver 2001:db8::1\n',
      ['192.0.2.1', 'fe80::1%eth0', 'fe80::1%eth1', '2001:db8::1'],
    ],
  ])('have the zone of %s', (_which, servers, resolvConf, expected) => {
    expect(withZones(servers, resolvConf)).toEqual(expected);
  });

  it.each([
    ['names no zone', 'nameserver fe80::53\n'],
    ['is of another server', 'nameserver fe80::54%eth0\n'],
    ['is a comment', '# nameserver fe80::53%eth0\n'],
  ])('stay as they are where the line %s', (_which, resolvConf) => {
    expect(withZones(['fe80::53'], resolvConf)).toEqual(['fe80::53']);
  });

  it('stay the same object until they are too old', () => {
    const [kept, renewed] = [createSystemResolvers(60_000), createSystemResolvers(0)];

    expect(kept()).toBe(kept());
    expect(renewed()).not.toBe(renewed());
    expect(renewed()).toEqual(kept());
  });
});
