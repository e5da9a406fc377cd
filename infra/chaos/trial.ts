import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect } from '@jest/globals';

import { chooseFaults } from './choose-faults.ts';
import { faults } from './faults/index.ts';
import { readHistory } from './history.ts';
import { verifyHistory } from './verify-history.ts';
import type { StoreKind } from './store.ts';

/** Delay after a deadline that tests tolerate: on a busy machine the promised two seconds may not be kept. */
export const INDULGENCE_MS = 20_000;

/**
 * Reasons for which a test may skip a fault: it starts no browser, and the kernel may be old or have no control groups of
 * version 1; outside CI, root or tools may be missing, too.
 */
const mayBeSkipped =
  process.env['CI'] === undefined
    ? /screenshots|needs root|needs nft|a C compiler|needs Linux|no control group/
    : /screenshots|needs Linux|no control group/;
const main = fileURLToPath(new URL('main.ts', import.meta.url));

/**
 * Runs every fault for this kind of store once, with shortened phases, and expects that no guarantee is broken. A
 * rolling restart has a separate test.
 *
 * @param shard `1/2` for the first of two halves
 */
export async function expectKeptPromises(store: StoreKind, shard = '1/1'): Promise<void> {
  const choice = { only: '', except: 'rolling', store, shard };
  const wanted = chooseFaults(faults, choice);
  const folder = mkdtempSync(join(tmpdir(), 'vantage-chaos-test-'));
  try {
    const file = join(folder, 'history.jsonl');
    const load = ['--rate', '4', '--agents', '1', '--poll', '1500'];
    const size = ['--minutes', '0', '--scale', '0.05', ...load, '--indulgence', String(INDULGENCE_MS)];
    const which = ['--store', store, '--shard', shard, '--except', choice.except];
    const stdout = await run([...which, ...size, '--seed', '7', '--history', file]);
    const tallies = verifyHistory(readHistory(file));

    expect(tallies.filter(({ broken }) => Object.keys(broken).length > 0)).toEqual([]);
    expect(tallies.reduce((sum, { accepted }) => sum + accepted, 0)).toBeGreaterThan(0);
    const skipped = stdout.split('\n').filter((line) => line.startsWith('skipped: '));
    const tried = tallies.filter(({ fault }) => faults.some(({ name }) => name === fault));
    expect(tried.length + skipped.length).toBe(wanted.length);
    expect(skipped.filter((text) => !mayBeSkipped.test(text))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Ignores the exit status, which states whether the goals hold: the caller compares the history itself. */
function run(words: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const options = { maxBuffer: 1e8 };
    execFile(process.execPath, ['--conditions=vantage-source', main, ...words], options, (_error, stdout, stderr) => {
      // Without a history, nothing else shows what went wrong.
      process.stderr.write(stderr.slice(-2_000));
      resolve(stdout);
    });
  });
}
