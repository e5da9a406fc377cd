import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Inputs of the build, relative to the repository root. */
const SOURCES = [
  'apps/web/build',
  'apps/web/src',
  'apps/web/public',
  'apps/web/index.html',
  'apps/web/package.json',
  'packages/client/package.json',
  'packages/client/src',
  'packages/contract/src',
  'packages/diagnostics/src',
  'pnpm-lock.yaml',
];

/** Hash of the Node.js version and of the build's inputs, test files excluded. */
export function fingerprint(repository: string): string {
  const hash = createHash('sha256').update(`node ${process.versions.node}\n`);
  for (const source of SOURCES) {
    for (const file of filesOf(join(repository, source))) {
      if (file.endsWith('.test.ts')) continue;
      hash.update(`${file.slice(repository.length)}\n`).update(readFileSync(file));
    }
  }
  return hash.digest('hex');
}

function filesOf(path: string): readonly string[] {
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted();
  } catch {
    return [path];
  }
}
