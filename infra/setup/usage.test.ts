import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { usage } from '../../apps/standalone/src/arguments.ts';

const root = join(import.meta.dirname, '../..');

describe('npm start -- --help', () => {
  it.each(['--help', '-h'])('answers in a fresh checkout and installs nothing: %s', (flag) => {
    const folder = mkdtempSync(join(tmpdir(), 'vantage-fresh-'));
    try {
      mkdirSync(join(folder, 'infra'));
      for (const part of ['infra/setup', 'apps/standalone/src/arguments.ts', 'package.json']) {
        const filter = (path: string): boolean => !path.includes('node_modules');
        cpSync(join(root, part), join(folder, part), { recursive: true, filter });
      }

      const words = [join(folder, 'infra/setup/run.mjs'), 'start', '--port', 'x', flag];
      const printed = execFileSync(process.execPath, words, { cwd: folder, encoding: 'utf8' });

      expect(printed.trimEnd()).toBe(usage.trimEnd());
      expect(readdirSync(folder).toSorted()).toEqual(['apps', 'infra', 'package.json']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
