import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { runtimeImports, undeclaredImports } from './shipped-packages.ts';

const root = join(import.meta.dirname, '../..');

/** Programs that images, the Debian package and the archives of npm are made from. */
const PROGRAMS = ['coordinator', 'probe-agent', 'load', 'cli', 'standalone'].map((name) => `@vantage/${name}`);

/** Needed by the set-up only, which makes the table of autonomous systems from it; the table is shipped as a file. */
const BUILD_ONLY = new Set(['@ip-location-db/asn']);

interface Package {
  readonly folder: string;
  readonly manifest: {
    readonly name: string;
    readonly dependencies?: Readonly<Record<string, string>>;
    readonly optionalDependencies?: Readonly<Record<string, string>>;
  };
}

const packages = new Map(
  globSync('{apps,packages}/*/package.json', { cwd: root }).map((path): [string, Package] => {
    const manifest = JSON.parse(readFileSync(join(root, path), 'utf8')) as Package['manifest'];
    return [manifest.name, { folder: path.replace('/package.json', ''), manifest }];
  }),
);

/** The programs and all of our packages that they depend on, directly or not. */
function shippedPackages(names: readonly string[], found = new Set<string>()): ReadonlySet<string> {
  for (const name of names) {
    if (found.has(name) || !packages.has(name)) continue;
    found.add(name);
    shippedPackages(Object.keys(packages.get(name)!.manifest.dependencies ?? {}), found);
  }
  return found;
}

/** Sources that Node runs; those of the page are bundled by its build. */
function sourcesOf(folder: string): readonly string[] {
  const rooms = folder === 'apps/web' ? 'serve' : 'src';
  return globSync(`${folder}/${rooms}/**/*.ts`, { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
}

const shipped = [...shippedPackages(PROGRAMS)].toSorted();

describe('a shipped package', () => {
  it('is every package except the support of the tests', () => {
    expect([...packages.keys()].filter((name) => !shipped.includes(name))).toEqual(['@vantage/test-support']);
  });

  it.each(shipped)('%s brings all that it imports when it runs', (name) => {
    const { folder, manifest } = packages.get(name)!;
    const sources = sourcesOf(folder);
    const imports = sources.flatMap((file) => runtimeImports(file, readFileSync(join(root, file), 'utf8')));

    expect(sources).not.toEqual([]);
    expect(undeclaredImports(manifest, imports).filter(({ module }) => !BUILD_ONLY.has(module))).toEqual([]);
  });
});

describe('the rule', () => {
  const manifest = { name: '@vantage/x', dependencies: { pino: '1' }, optionalDependencies: { koffi: '1' } };

  it.each([
    ['a value', `import { LRUCache } from 'lru-cache';`, ['lru-cache']],
    ['names over several lines', `import {\n  a,\n  type B,\n} from '@scope/name/part';`, ['@scope/name']],
    ['a type among values', `import { type LRUCache } from 'lru-cache';`, ['lru-cache']],
    ['an export', `export * from 'lru-cache';`, ['lru-cache']],
    ['a module that is loaded for its effect', `import 'reflect-metadata';`, ['reflect-metadata']],
    ['a module that is loaded later', `const later = await import('lru-cache');`, ['lru-cache']],
    ['a file of a package', `require.resolve('geoip-lite/package.json')`, ['geoip-lite']],
    ['a type', `import type { LRUCache } from 'lru-cache';`, []],
    ['types', `export type { LRUCache } from 'lru-cache';`, []],
    ['a comment', `/**\n * import('lru-cache')\n */`, []],
    ['a dependency', `import { pino } from 'pino';\nimport koffi from 'koffi';`, []],
    ['Node, an own file and the package itself', `import 'node:fs';\nimport './a.ts';\nimport '@vantage/x';`, []],
  ])('%s', (_what, source, expected) => {
    const found = undeclaredImports(manifest, runtimeImports('a.ts', source));

    expect(found.map(({ module }) => module)).toEqual(expected);
  });
});
