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
    ['an IPv4 address is itself', '192.0.2.1', '192.0.2.1'],
    ['an IPv6 address is itself, in its one way to be written', '2001:DB8:0:0::1', '2001:db8::1'],
    ['what is no host is itself', 'A B', 'a b'],
  ])('%s', (_reason, host, group) => {
    expect(targetGroup(host)).toBe(group);
  });
});
