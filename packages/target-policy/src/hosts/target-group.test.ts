import { describe, expect, it } from '@jest/globals';

import { targetGroup } from './target-group.ts';

describe('targetGroup', () => {
  it.each([
    ['a registrable domain is itself', 'example.com', 'example.com'],
    ['names below it are one with it', 'a.b.WWW.example.com.', 'example.com'],
    ['a suffix of two labels is none', 'a.example.co.uk', 'example.co.uk'],
    ['what a registry lets others have is theirs', 'a.someone.github.io', 'someone.github.io'],
    ['a name in another script is read', 'www.bücher.example.org', 'example.org'],
    ['a suffix is itself', 'co.uk', 'co.uk'],
    ['the root is itself', '.', '.'],
    ['a name without a known suffix is of its last two labels', 'nas.home.lan', 'home.lan'],
    ['a name of one label is itself', 'nas', 'nas'],
    ['an IPv4 address is its /24', '192.0.2.1', '192.0.2.0/24'],
    ['the last of a /24 is in it', '192.0.2.255', '192.0.2.0/24'],
    ['an IPv6 address is its /64', '2001:DB8:0:7::1', '2001:db8:0:7::/64'],
    ['the last of a /64 is in it', '2001:db8:0:7:ffff:ffff:ffff:ffff', '2001:db8:0:7::/64'],
    ['brackets are no part of an address', '[2001:db8::1]', '2001:db8::/64'],
    ['what is no host is itself', 'A B', 'a b'],
  ])('%s', (_reason, host, group) => {
    expect(targetGroup(host)).toBe(group);
  });
});
