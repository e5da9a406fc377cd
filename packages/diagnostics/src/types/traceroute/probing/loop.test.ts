import { describe, expect, it } from '@jest/globals';

import { findLoop } from './loop.ts';

describe('a routing loop', () => {
  it.each([
    ['two routers, twice round', ['a', 'b', 'c', 'b', 'c'], { start: 2, length: 2, provedAt: 5 }],
    ['three routers, twice round', ['x', 'y', 'z', 'x', 'y', 'z'], { start: 1, length: 3, provedAt: 6 }],
    ['with a silent router, three times', ['a', 'b', null, 'b', null, 'b', null], { start: 2, length: 2, provedAt: 7 }],
    ['one router, five times', ['a', 'b', 'b', 'b', 'b', 'b'], { start: 2, length: 1, provedAt: 6 }],
  ])('is found: %s', (_reason, path, loop) => {
    expect(findLoop(path)).toEqual(loop);
  });

  it.each([
    ['a path without one', ['a', 'b', 'c', 'd']],
    ['an empty path', []],
    ['silence', [null, null, null, null, null, null, null]],
    ['a router that answers for the one behind it', ['a', 'b', 'b', 'c']],
    ['a way that crosses itself once', ['a', 'b', 'c', 'b', 'd']],
    ['with a silent router, twice only', ['a', 'b', null, 'b', null]],
    ['half of a second round', ['a', 'b', 'c', 'a', 'b']],
  ])('is not seen in %s', (_reason, path) => {
    expect(findLoop(path)).toBeNull();
  });
});
