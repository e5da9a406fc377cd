import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { bundle } from './bundle.ts';
import { manifestOf, npmPack, writeLicenses, writePackage } from './package.ts';

const root = join(import.meta.dirname, '../..');

/**
 * Packs the client: one module for Node ≥ 20 and browsers, once as an ES module and once as CommonJS, and its
 * declarations, which import `@vantage/types` alone.
 *
 * @param folder of the tarball
 * @returns path of the tarball
 */
export async function packClient(folder: string): Promise<string> {
  const work = mkdtempSync(join(tmpdir(), 'vantage-pack-client-'));
  try {
    const { version, description, license } = manifestOf('packages/client');
    const entry = 'packages/client/src/index.ts';
    await bundle(entry, join(work, 'index.mjs'), { banner: '' });
    await bundle(entry, join(work, 'index.cjs'), { banner: '', format: 'cjs' });
    mkdirSync(join(work, 'types'));
    writeDeclarations(join(work, 'types'));
    const manifest = { name: '@vantage/client', version, description, license, sideEffects: false };
    const types = './types/index.d.ts';
    const exports = { '.': { types, import: './index.mjs', require: './index.cjs' } };
    // For tools that do not read `exports`.
    const entries = { main: './index.cjs', module: './index.mjs', types };
    writeLicenses(work, ['eventsource-parser']);
    writePackage(
      work,
      { ...manifest, ...entries, exports, dependencies: { '@vantage/types': version }, engines: { node: '>=20' } },
      'packages/client/README.md',
    );
    return npmPack(work, folder);
  } finally {
    rmSync(work, { recursive: true });
  }
}

/**
 * Types are not checked here, because `tsc -b` checks them. Imports end in `.js`, because other compilers refuse `.ts`.
 */
function writeDeclarations(folder: string): void {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const options = ['--noCheck', '--declaration', '--emitDeclarationOnly', '--skipLibCheck', '--ignoreConfig'];
  const modules = ['--module', 'nodenext', '--target', 'es2022', '--allowImportingTsExtensions'];
  const entry = 'packages/client/src/index.ts';
  execFileSync(process.execPath, [compiler, ...options, ...modules, '--outDir', folder, entry], { cwd: root });
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), 'utf8').replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'");
    writeFileSync(join(folder, name), text);
  }
  writeFileSync(join(folder, 'types.d.ts'), "export * from '@vantage/types';\n");
}
