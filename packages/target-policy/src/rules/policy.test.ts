import { describe, expect, it } from '@jest/globals';

import { parseAddress } from '../addresses/address.ts';
import { createTargetPolicy, evaluateAddress, targetPolicyFaults } from './policy.ts';

describe('the standing of an address', () => {
  const plain = createTargetPolicy();
  const own = createTargetPolicy({
    allow: ['127.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '169.254.0.0/16', 'fd00::/8', '::ffff:0:0/96'],
    deny: ['10.9.0.0/16', '8.8.8.0/24', '2606:4700::/32'],
  });
  const dangerous = createTargetPolicy({ allow: ['169.254.0.0/16'], dangerouslyAllowLinkLocalAndMetadata: true });

  it.each([
    ['public', plain, '1.1.1.1', 'public'],
    ['refused by the table', plain, '127.0.0.1', 'address_special'],
    ['opened by the operator', own, '127.0.0.1', 'allowed'],
    ['public and not opened', own, '1.1.1.1', 'public'],
    ['private and not opened', own, '192.168.0.1', 'address_special'],
    ['closed within what is opened', own, '10.9.0.1', 'address_denied'],
    ['opened next to closed ones', own, '10.8.0.1', 'allowed'],
    ['public and closed', own, '8.8.8.8', 'address_denied'],
    ['public and closed, IPv6', own, '2606:4700:4700::1111', 'address_denied'],
    ['link-local, without the second switch', own, '169.254.169.254', 'address_special'],
    ['metadata elsewhere, without the second switch', own, '100.100.100.200', 'address_special'],
    ['a neighbour of metadata', own, '100.100.100.201', 'allowed'],
    ['IPv6 metadata, without the second switch', own, 'fd00:ec2::254', 'address_special'],
    ['metadata in a mapped address, without the second switch', own, '::ffff:169.254.169.254', 'address_special'],
    ['an opened address in a mapped one', own, '::ffff:127.0.0.1', 'allowed'],
    ['link-local, with the second switch', dangerous, '169.254.169.254', 'allowed'],
    ['not opened, with the second switch', dangerous, 'fe80::1', 'address_special'],
  ])('%s', (_reason, policy, text, expected) => {
    const standing = evaluateAddress(parseAddress(text)!, policy);

    expect(typeof standing === 'string' ? standing : standing.code).toBe(expected);
  });

  it('does not open an IPv4-mapped address by the CIDR of the IPv4 address', () => {
    const policy = createTargetPolicy({ allow: ['127.0.0.0/8'] });

    expect(evaluateAddress(parseAddress('::ffff:127.0.0.1')!, policy)).toMatchObject({ code: 'address_special' });
  });

  it('names the row, its source and the address that is carried', () => {
    expect(evaluateAddress(parseAddress('2002:7f00:1::')!, plain)).toMatchObject({
      message: '2002:7f00:1:: is in 2002::/16 (6to4, RFC 3056): embeds IPv4 at bits 16-47; it carries 127.0.0.1.',
    });
  });
});

describe('the options of a policy', () => {
  it('lists every fault at once', () => {
    const options = {
      allow: ['10.0.0.0/8', '10.0.0.1/8', 'localhost', '127.1'],
      allowNames: ['lan', 'a b', '10.0.0.1', '.'],
      deny: ['8.8.8.8', 'example.com', '8.8.8.8/8', '-x', 'http://example.com'],
    };

    expect(targetPolicyFaults(options)).toEqual([
      'allow: "10.0.0.1/8" is not an exact CIDR or address.',
      'allow: "localhost" is not an exact CIDR or address.',
      'allow: "127.1" is not an exact CIDR or address.',
      'allowNames: "a b" is not a domain.',
      'allowNames: "10.0.0.1" is not a domain.',
      'allowNames: "." is not a domain.',
      'deny: "8.8.8.8/8" is neither an exact CIDR, an address nor a domain.',
      'deny: "-x" is neither an exact CIDR, an address nor a domain.',
      'deny: "http://example.com" is neither an exact CIDR, an address nor a domain.',
    ]);
    expect(() => createTargetPolicy(options)).toThrow('allow: "10.0.0.1/8" is not an exact CIDR or address.');
  });

  it('takes domains in any form that has a canonical one', () => {
    const policy = createTargetPolicy({ deny: ['BÜCHER.example.com.'] });

    expect([...policy.denyNames]).toEqual(['xn--bcher-kva.example.com']);
  });
});
