import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from '@jest/globals';

import { filesWithLongFunctions, longCodeRules, longFiles } from './long-code.ts';

interface Finding {
  readonly code: string;
  readonly filename: string;
}

const repository = fileURLToPath(new URL('../../', import.meta.url));

/** The listed files that each rule reports if none is exempt. */
function findings(): Readonly<Record<string, readonly string[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-lint-'));
  try {
    const config = join(folder, 'oxlint.json');
    writeFileSync(config, JSON.stringify({ categories: {}, rules: longCodeRules }));
    const files = [...new Set([...filesWithLongFunctions, ...longFiles])];
    const lint = spawnSync(
      join(repository, 'node_modules/.bin/oxlint'),
      ['--config', config, '--format', 'json', ...files],
      { cwd: repository, encoding: 'utf8' },
    );
    const { diagnostics } = JSON.parse(lint.stdout) as { readonly diagnostics: readonly Finding[] };
    const byRule = Object.groupBy(diagnostics, ({ code }) => code);
    return Object.fromEntries(
      Object.entries(byRule).map(([code, found = []]) => [
        code,
        [...new Set(found.map(({ filename }) => filename))].toSorted(),
      ]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the lists of long code', () => {
  it('have no entry that is within the bounds', () => {
    const found = findings();

    expect(found['eslint(max-lines-per-function)']).toEqual(filesWithLongFunctions.toSorted());
    expect(found['eslint(max-lines)']).toEqual(longFiles.toSorted());
  });
});
