import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

const root = join(import.meta.dirname, '../..');
/** An import; also one in a template from which a source is written, whose files need not exist. */
const IMPORT = /\b(?:from|import)\s*\(?\s*'([^']+)'/g;

/** Sources and packages that a source imports, directly or through others. */
function sourcesOf(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file) || !existsSync(join(root, file))) return found;
  found.add(file);
  for (const [, path = ''] of readFileSync(join(root, file), 'utf8').matchAll(IMPORT)) {
    if (path.startsWith('.')) sourcesOf(join(dirname(file), path), found);
    else found.add(path);
  }
  return found;
}

describe('commands that start bundled programs', () => {
  const commands = globSync('infra/*/main.ts', { cwd: root }).filter((file) =>
    sourcesOf(file).has('@vantage/test-support/programs/bundled-program'),
  );

  it('are found', () => {
    expect(commands).toEqual(expect.arrayContaining(['infra/audit/main.ts', 'infra/bench/main.ts']));
  });

  it.each(commands)('are bundled first by %s, since a set-up alone makes no bundles', (command) => {
    expect(readFileSync(join(root, command), 'utf8')).toMatch(/^\s*bundlePrograms\(\);$/m);
  });
});
