import { describe, expect, it } from '@jest/globals';

import { createCompressedCache } from './compression.ts';

describe('the compressed forms of answers', () => {
  const text = Buffer.from('x'.repeat(40));
  let made: string[];

  const cacheOf = (maxBytes: number, fails = false): ReturnType<typeof createCompressedCache> => {
    made = [];
    return createCompressedCache(maxBytes, async (bytes, encoding) => {
      made.push(encoding);
      if (fails) throw new Error('no memory');
      return Buffer.concat([Buffer.from(encoding), bytes]).subarray(0, 40);
    });
  };

  it('are made once for each content and encoding, also while the first is under way', async () => {
    const cache = cacheOf(5_000);
    const both = await Promise.all([cache.of('a', text, 'br'), cache.of('a', text, 'br')]);
    await cache.of('a', text, 'gzip');
    await cache.of('a', text, 'br');

    expect(made).toEqual(['br', 'gzip']);
    expect(both[0]).toBe(both[1]);
    expect(both[0].toString()).toMatch(/^brx+$/);
  });

  it('take no more than their bound: those that were not used for the longest time go', async () => {
    // Two entries: each takes a kibibyte besides its 40 bytes.
    const cache = cacheOf(3_000);
    await cache.of('a', text, 'br');
    await cache.of('b', text, 'br');
    await cache.of('a', text, 'br');
    await cache.of('c', text, 'br');
    made = [];
    await cache.of('a', text, 'br');
    await cache.of('c', text, 'br');
    const afterwards = [...made];
    await cache.of('b', text, 'br');

    expect([afterwards, made]).toEqual([[], ['br']]);
  });

  it('take no more memory than their size', async () => {
    const form = await createCompressedCache().of('a', Buffer.from('x'.repeat(2_000)), 'gzip');

    expect(form.length).toBeLessThan(100);
    expect(form.buffer.byteLength).toBe(form.length);
  });

  it('are made again if that failed', async () => {
    const cache = cacheOf(100, true);
    await expect(cache.of('a', text, 'br')).rejects.toThrow('no memory');
    await expect(cache.of('a', text, 'br')).rejects.toThrow('no memory');

    expect(made).toHaveLength(2);
  });
});
