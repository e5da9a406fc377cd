import { describe, expect, it } from '@jest/globals';

import { isSameHost } from './host.ts';

describe('the same host', () => {
  it.each([
    ['Example.COM.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['2001:DB8:0::1', '2001:db8::1'],
    ['HTTP://Example.com', 'http://example.com:80/'],
    ['https://example.com./a', 'https://example.com/a'],
    ['https://example.com.:8443/a', 'https://EXAMPLE.com:8443/a'],
    ['http://example.com/a/../b', 'http://example.com/b'],
    ['http://example.com/?q=1#part', 'http://example.com/?q=1'],
    ['http://example.com/#', 'http://example.com'],
    ['fra-1 ↔ nyc-1', 'nyc-1 ↔ fra-1'],
  ])('is written as %s and as %s', (one, other) => {
    expect(isSameHost(one, other)).toBe(true);
  });

  it.each([
    ['http://example.com/', 'https://example.com/'],
    ['http://example.com/a', 'http://example.com/A'],
    ['http://example.com/?q=1', 'http://example.com/?q=2'],
    ['http://example.com/', 'http://example.com:8080/'],
    ['http://www.example.com/', 'http://example.com/'],
  ])('is not %s and %s', (one, other) => {
    expect(isSameHost(one, other)).toBe(false);
  });
});
