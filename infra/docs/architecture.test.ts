import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { namedPaths } from './named-paths.ts';

const root = join(import.meta.dirname, '../..');
const page = 'docs/architecture.md';
const text = readFileSync(join(root, page), 'utf8');

const missing = (written: string): readonly string[] =>
  namedPaths(page, written)
    .filter(({ candidates }) => candidates.every((path) => globSync(path, { cwd: root }).length === 0))
    .map(({ name }) => name);

describe('the page of the architecture', () => {
  it('names no file and no folder that is not there', () => {
    expect(missing(text)).toEqual([]);
  });

  it('names the way of a result and every part of the tree', () => {
    const names = namedPaths(page, text).map(({ name }) => name);
    const packages = globSync('{apps,packages}/*/package.json', { cwd: root }).map((path) =>
      path.split('/', 2).join('/'),
    );

    expect(names.filter((name) => name.endsWith('.ts')).length).toBeGreaterThan(60);
    expect(packages.filter((path) => !names.includes(path) && !text.includes(`\`${path}\``))).toEqual([]);
  });

  it.each([
    ['a link', '[`old.ts`](../apps/coordinator/src/old.ts)'],
    ['a file in code', 'See `packages/geo/src/old.ts`.'],
    ['a folder in the table', '| `packages/geo` | `olden/` has the data | `contract` |'],
    ['a package in the table', '| `packages/geo` | places | `olden` |'],
  ])('would fail for %s that is not there', (_what, line) => {
    expect(missing(`${text}\n${line}\n`)).toHaveLength(1);
  });
});
