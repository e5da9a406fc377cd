/** Builds the page into `dist/page`; does nothing when it is up to date. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { build } from 'vite';

import { checkForms } from './check-forms.ts';
import { compressFiles } from './compress.ts';
import { fingerprint } from './fingerprint.ts';
import { virtualModules } from './virtual-modules.ts';
import { drawWorld } from './world-map.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const outDir = fileURLToPath(new URL('../dist/page/', import.meta.url));
const stamp = fileURLToPath(new URL('../dist/page.built', import.meta.url));

const wanted = fingerprint(fileURLToPath(new URL('../../../', import.meta.url)));
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  rmSync(stamp, { force: true });
  await buildPage();
  writeFileSync(stamp, wanted);
}

async function buildPage(): Promise<void> {
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    // Relative URLs: the service prepends the path of its base URL.
    base: './',
    publicDir: 'public',
    plugins: [virtualModules({ 'virtual:check-forms': checkForms, 'virtual:world-map': drawWorld })],
    resolve: { conditions: ['source', 'module', 'browser'] },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir,
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      target: ['chrome123', 'firefox120', 'safari17.5'],
      reportCompressedSize: false,
    },
  });
  compressFiles(outDir);
}
