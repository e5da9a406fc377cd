import { describe, expect, it } from '@jest/globals';

import { parseAddress } from '../addresses/address.ts';
import { uselessAllowance } from './allowance.ts';
import { createTargetPolicy, evaluateAddress } from './policy.ts';

describe('a network to allow', () => {
  it.each([
    ['link-local', '169.254.0.0/16', 'cannot be allowed (Link Local)'],
    ['a metadata address', '169.254.169.254', 'cannot be allowed'],
    ['a metadata address elsewhere', '100.100.100.200/32', 'cannot be allowed (Shared Address Space (CGNAT))'],
    ['metadata of IPv6', 'fd00:ec2::254', 'cannot be allowed'],
    ['a part of fe80::/10', 'fe80::/64', 'cannot be allowed (Link-Local Unicast)'],
    ['multicast', '224.0.0.251', 'cannot be allowed (Multicast): a check measures one host'],
    ['multicast of IPv6', 'ff02::/16', 'cannot be allowed (Multicast)'],
    ['the broadcast address', '255.255.255.255', 'cannot be allowed (Limited Broadcast)'],
    ['no address', '0.0.0.0', 'cannot be allowed'],
    ['a public network', '8.8.8.0/24', 'is public'],
    ['a public address of IPv6', '2606:4700::1111', 'is public'],
  ])('is of no use: %s', (_what, network, reason) => {
    expect(uselessAllowance(network)).toContain(reason);
  });

  it.each([
    ['a private network', '10.0.0.0/8'],
    ['loopback, for a trial', '127.0.0.0/8'],
    ['shared addresses, which contain metadata ones', '100.64.0.0/10'],
    ['unique-local addresses', 'fd00::/8'],
    ['a network with refused parts', '192.0.0.0/8'],
    ['everything', '0.0.0.0/0'],
    ['a public network of IPv6, which has addresses that embed private ones', '2606:4700::/32'],
  ])('is of use: %s', (_what, network) => {
    expect(uselessAllowance(network)).toBeUndefined();
  });

  it('is decided like its addresses: what cannot be allowed stays refused', () => {
    for (const network of ['169.254.0.0/16', '100.100.100.200/32', 'fd00:ec2::/32', 'fe80::/10']) {
      const address = parseAddress(network.split('/')[0]!)!;
      expect(typeof evaluateAddress(address, createTargetPolicy({ allow: [network] }))).toBe('object');
    }
  });
});
