import { describe, expect, it } from '@jest/globals';

import { isOnLink } from './on-link.ts';

describe('an address', () => {
  it('is on a link of the machine if it is in a network of an interface', () => {
    expect([isOnLink('127.200.0.9'), isOnLink('203.0.113.9'), isOnLink('2001:db8::9')]).toEqual([true, false, false]);
  });
});
