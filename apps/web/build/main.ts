/** Builds the page into `dist/page`; does nothing when it is up to date. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { build } from 'vite';

import { compressFiles } from './compress.ts';
import { fingerprint } from './fingerprint.ts';
import { writeFont } from './font.ts';
import { pageConfig } from './page-config.ts';

const outDir = fileURLToPath(new URL('../dist/page/', import.meta.url));
const stamp = fileURLToPath(new URL('../dist/page.built', import.meta.url));

/**
 * Modules that views share, together in two files. Excluded are some modules of `client`, which are loaded separately.
 */
const sharedChunks = [
  {
    name: 'base',
    test: /[\\/](?:preact|parts|client[\\/]src(?![\\/](?:target-mistake|odd-host|tables)))[\\/]|src[\\/](?:format|faults|route|words)\.ts/,
  },
  {
    name: 'results',
    test: /src[\\/](?:check[\\/](?:columns|CheckVerdict)|views[\\/](?:Axis|scale|group|types|networks))\.tsx?/,
  },
];

const wanted = fingerprint(fileURLToPath(new URL('../../../', import.meta.url)));
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  rmSync(stamp, { force: true });
  await buildPage();
  writeFileSync(stamp, wanted);
}

async function buildPage(): Promise<void> {
  await writeFont();
  await build({
    ...pageConfig,
    logLevel: 'error',
    // Relative URLs: the service prepends the path of its base URL.
    base: './',
    build: {
      outDir,
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      target: ['chrome123', 'firefox120', 'safari17.5'],
      reportCompressedSize: false,
      rolldownOptions: { output: { codeSplitting: { groups: sharedChunks } } },
    },
  });
  compressFiles(outDir);
}
