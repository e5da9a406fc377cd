import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { bundle } from './bundle.ts';
import { manifestOf, npmPack, writeLicenses, writePackage } from './package.ts';

/** Node 20 lacks functions of Node 24 that the program uses. */
const FOR_NODE_20 = [
  'Error.isError ??= (value) => value instanceof Error;',
  'Promise.withResolvers ??= function () { const all = {}; all.promise = new this((resolve, reject) => Object.assign(all, { resolve, reject })); return all; };',
].join('\n');

/**
 * Packs the command line as one file without dependencies.
 *
 * @param folder of the tarball
 * @returns path of the tarball
 */
export async function packCli(folder: string): Promise<string> {
  const work = mkdtempSync(join(tmpdir(), 'vantage-pack-cli-'));
  try {
    const { version, description, license } = manifestOf('apps/cli');
    await bundle('apps/cli/src/main.ts', join(work, 'vantage.js'), {
      banner: FOR_NODE_20,
      define: { VANTAGE_VERSION: JSON.stringify(version) },
    });
    const manifest = { name: '@vantage/cli', version, description, license, type: 'module' };
    writeLicenses(work, ['eventsource-parser']);
    writePackage(work, { ...manifest, bin: { vantage: 'vantage.js' }, engines: { node: '>=20' } }, 'docs/cli.md');
    return npmPack(work, folder);
  } finally {
    rmSync(work, { recursive: true });
  }
}
