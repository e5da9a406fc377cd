import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the page is made of, from the root of the checkout. */
const SOURCES = [
  'apps/web/build',
  'apps/web/src',
  'apps/web/public',
  'apps/web/index.html',
  'apps/web/package.json',
  'packages/client/src',
  'packages/contract/src',
  'packages/diagnostics/src',
  'pnpm-lock.yaml',
];

/** Changes when a build would give something else. Tests of the sources are no part of it. */
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
