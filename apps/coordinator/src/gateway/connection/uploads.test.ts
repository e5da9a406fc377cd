import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { MAX_SCREENSHOT_BYTES, SCREENSHOT_PIECE_BYTES } from '@vantage/contract';
import { describe, expect, it } from '@jest/globals';

import { createUploads } from './uploads.ts';

const MIB = 1024 * 1024;

describe('the uploads of a connection', () => {
  it('give the bytes of all pieces, and the memory back', () => {
    const budget = { bytes: 0, mostBytes: 64 * MIB };
    const uploads = createUploads(budget);
    const png = Buffer.from(Array.from({ length: 300_001 }, (_, index) => (index * 7) % 251));
    for (let at = 0; at < png.length; at += 4_099) uploads.add(3, png.subarray(at, at + 4_099));
    uploads.add(4, Buffer.of(1));
    const counted = budget.bytes;

    expect(uploads.take(3, png.length)?.equals(png)).toBe(true);
    expect(uploads.take(4, 2)).toBeUndefined();
    expect([counted >= png.length, budget.bytes]).toEqual([true, 0]);
  });

  it('take no more memory than the budget counts, however small the pieces are', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const budget = { bytes: 0, mostBytes: 64 * MIB };
    const uploads = createUploads(budget);
    collect();
    const before = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 40_000; count += 1) {
      uploads.add(1, Buffer.of(1));
      // Simulates other allocations of this process, which use up the rest of the pool of small buffers.
      Buffer.from('x'.repeat(2_000));
    }
    collect();
    // Freed memory may be counted until the next collection.
    collect();
    const taken = process.memoryUsage().arrayBuffers - before;

    expect(taken).toBeLessThan(budget.bytes + 8 * MIB);
    expect(uploads.take(1, 40_000)).toHaveLength(40_000);
  });

  it('end at the largest screenshot, and wait while there is no memory', () => {
    const budget = { bytes: 0, mostBytes: 4 * SCREENSHOT_PIECE_BYTES };
    const [one, other] = [createUploads(budget), createUploads(budget)];
    const piece = Buffer.alloc(SCREENSHOT_PIECE_BYTES);
    const said = [one.add(1, piece), one.add(1, piece), other.add(1, piece), other.add(1, piece), one.add(1, piece)];
    other.drop();
    const large = createUploads({ bytes: 0, mostBytes: 64 * MIB });
    for (let at = 0; at < MAX_SCREENSHOT_BYTES; at += piece.length) large.add(1, piece);

    expect(said).toEqual(['taken', 'taken', 'taken', 'taken', 'full']);
    expect(large.add(1, Buffer.of(1))).toBe('fault');
    one.drop();
    expect(budget.bytes).toBe(0);
  });

  it('are two at most: the first makes room', () => {
    const uploads = createUploads({ bytes: 0, mostBytes: 64 * MIB });
    for (const upload of [1, 2, 3]) uploads.add(upload, Buffer.of(upload));

    expect([1, 2, 3].map((upload) => uploads.take(upload, 1)?.[0])).toEqual([undefined, 2, 3]);
  });
});
