import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from '@jest/globals';

/**
 * Frees every other group of small buffers: the remaining ones, in between and at the top of the heap, keep malloc from
 * returning the memory.
 */
const PROGRAM = `
import { readFileSync } from 'node:fs';
import { loadMemoryRelease } from ${JSON.stringify(fileURLToPath(new URL('libc.ts', import.meta.url)))};
const residentKiB = () => Number(/^VmRSS:\\s+(\\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))[1]);
const release = await loadMemoryRelease();
let pieces = Array.from({ length: 2_000 }, () => Buffer.allocUnsafeSlow(30 * 1_024).fill(1));
pieces = pieces.filter((_, index) => Math.floor(index / 20) % 2 === 1);
gc();
await new Promise((resolve) => setTimeout(resolve, 200));
gc();
const before = residentKiB();
release();
process.stdout.write(String(before - residentKiB()));
`;

describe('the release of memory', () => {
  it('returns what malloc keeps between pieces in use', () => {
    const flags = ['--expose-gc', '--conditions=vantage-source', '--input-type=module', '-e', PROGRAM];
    const env = { PATH: process.env['PATH'], MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };

    const returnedKiB = Number(execFileSync(process.execPath, flags, { env, encoding: 'utf8' }));

    expect(returnedKiB).toBeGreaterThan(15 * 1_024);
  });
});
