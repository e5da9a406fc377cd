import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { findHomonyms } from './homonyms.ts';

const root = join(import.meta.dirname, '../..');

const sources = new Map(
  globSync('{apps,packages,infra}/**/*.{ts,tsx}', { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] })
    // The package of types declares those of the client once more, generated from the OpenAPI document.
    .filter((file) => !/\.(?:test|d)\.tsx?$/.test(file) && file !== 'infra/npm/pack-types.ts')
    .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
);

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string | { readonly 'vantage-source': string }>>;
}

/** Source of each entry in `exports` of a package. Without test-support: it exports every file by the pattern `./*`. */
const entries = new Map(
  globSync('packages/*/package.json', { cwd: root })
    .filter((file) => !file.startsWith('packages/test-support/'))
    .flatMap((file) => {
      const { name, exports = {} } = JSON.parse(readFileSync(join(root, file), 'utf8')) as Manifest;
      return Object.entries(exports).flatMap(([entry, target]): readonly [string, string][] =>
        typeof target === 'string' ? [] : [[join(name, entry), join(file, '..', target['vantage-source'])]],
      );
    }),
);

describe('a name that a package offers', () => {
  it('has no other meaning in other packages, apps and programs', () => {
    expect(findHomonyms(entries, sources)).toEqual([]);
  });

  it('is found through every form of an export, also if the other one is a constant of its file alone', () => {
    const found = findHomonyms(new Map([['@x/one', 'packages/one/src/index.ts']]), madeSources());

    expect(found).toEqual([
      'Aliased: packages/one/src/b.ts <> apps/two/src/a.ts',
      'Direct: packages/one/src/index.ts <> apps/two/src/a.ts',
      'LONGEST_MS: packages/one/src/index.ts <> apps/two/src/b.ts',
      'Nested: packages/one/src/c.ts <> apps/two/src/a.ts',
      'picked: packages/one/src/b.ts <> apps/two/src/a.ts',
    ]);
  });

  it('may be passed on by another package', () => {
    const passing = new Map([
      ['packages/one/src/index.ts', 'export const one = 1;'],
      ['packages/two/src/index.ts', "export { one } from '@x/one';\nexport * from '@x/one';"],
    ]);

    expect(
      findHomonyms(
        new Map([
          ['@x/one', 'packages/one/src/index.ts'],
          ['@x/two', 'packages/two/src/index.ts'],
        ]),
        passing,
      ),
    ).toEqual([]);
  });
});

/**
 * A package with names in three files, and an app that declares all of them and names that the package keeps for
 * itself.
 */
function madeSources(): ReadonlyMap<string, string> {
  return new Map([
    [
      'packages/one/src/index.ts',
      "export * from './a.ts';\nexport { type Inner as Aliased, picked } from './b.ts';\nexport interface Direct {}\nexport const LONGEST_MS = 1;",
    ],
    ['packages/one/src/a.ts', "export type * from './c.ts';"],
    ['packages/one/src/b.ts', 'export type Inner = string;\nexport async function picked() {}\nexport const kept = 1;'],
    ['packages/one/src/c.ts', 'export class Nested {}'],
    [
      'apps/two/src/a.ts',
      'export const Aliased = 1, kept = 2;\nexport type Direct = 1;\nexport class Nested {}\nexport function* picked() {}',
    ],
    ['apps/two/src/b.ts', 'const Direct = 1;\nexport const kept = 1;\nconst LONGEST_MS = 2;'],
  ]);
}
