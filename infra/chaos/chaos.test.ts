import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from '@jest/globals';

import { startDeployment } from './deployment.ts';
import { faults } from './faults/index.ts';
import { readHistory } from './history.ts';
import { judge } from './judge.ts';
import { loadOnce } from './overload.ts';

/** Where others keep the machine busy, two seconds after a deadline are no measure. */
const INDULGENCE_MS = 20_000;
/** The trial takes no screenshots. */
const mayBeSkipped = process.env['CI'] === undefined ? /screenshots|needs root|needs nft|a C compiler/ : /screenshots/;
const main = fileURLToPath(new URL('main.ts', import.meta.url));

describe('a service with two coordinators and three probes, whatever dies', () => {
  it('keeps every promise, in a short trial of each fault', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vantage-chaos-test-'));
    const file = join(folder, 'history.jsonl');
    // One round, in a separate network namespace if possible. A rolling restart has a separate test.
    const trial = ['--minutes', '0', '--scale', '0.1', '--rate', '4', '--indulgence', String(INDULGENCE_MS)];
    const { stdout } = await run([...trial, '--except', 'rolling', '--seed', '7', '--history', file]);
    const tallies = judge(readHistory(file));
    rmSync(folder, { recursive: true });

    expect(tallies.filter(({ broken }) => Object.keys(broken).length > 0)).toEqual([]);
    expect(tallies.reduce((sum, { accepted }) => sum + accepted, 0)).toBeGreaterThan(0);
    const skipped = stdout.split('\n').filter((line) => line.startsWith('skipped: '));
    const tried = tallies.filter(({ fault }) => faults.some(({ name }) => name === fault));
    expect(tried.length + skipped.length).toBe(faults.length - 1);
    expect(skipped.filter((text) => !mayBeSkipped.test(text))).toEqual([]);
  }, 900_000);

  it('refuses what is too much, and ends what it has accepted', async () => {
    const deployment = await startDeployment({ agents: 2, store: 'single', agentEnv: { CONCURRENCY: '2' } });
    try {
      const tally = await loadOnce(deployment, 3, 5_000, 15, INDULGENCE_MS);

      expect(tally.notes).toEqual([]);
      expect(tally.accepted).toBeGreaterThan(0);
      expect(tally.refused).toBeGreaterThan(0);
    } finally {
      await deployment.stop();
    }
  }, 600_000);
});

/** Its status says whether goals hold; the history is judged here. */
function run(words: readonly string[]): Promise<{ readonly stdout: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--conditions=vantage-source', main, ...words], { maxBuffer: 1e8 }, (_error, stdout) =>
      resolve({ stdout }),
    );
  });
}
