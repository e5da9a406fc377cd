// Bundles the programs into their folders `dist`: node infra/setup/bundle-programs.mjs coordinator probe-agent …
// One file loads faster than the hundreds of modules that it is made of: docs/optimisations.md.
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { repository } from './repository.mjs';

/** Entries of each program: the name in `dist`, and the source. */
const PROGRAMS = {
  coordinator: {
    main: 'apps/coordinator/src/main.ts',
    'admin/main': 'apps/coordinator/src/admin/main.ts',
    'check-monitors/main': 'apps/coordinator/src/check-monitors/main.ts',
  },
  'probe-agent': {
    main: 'apps/probe-agent/src/main.ts',
    'packet-process': 'packages/diagnostics/src/sockets/process/packet-process.ts',
  },
  standalone: {
    main: 'apps/standalone/src/main.ts',
    'reaper-process': 'apps/standalone/src/reaper-process.ts',
  },
  load: { main: 'apps/load/src/main.ts' },
};

/** Files that can affect a bundle. */
const INPUTS = [
  'apps/*/{src,serve}/**/*.{ts,json}',
  'packages/*/src/**/*.{ts,json}',
  '{apps,packages}/*/package.json',
  'pnpm-lock.yaml',
  'infra/setup/bundle-programs.mjs',
];

/** A running program loads some files later, so those of earlier builds stay for a day, except with `--clean`. */
const KEPT_MS = 24 * 60 * 60 * 1_000;

const CONDITIONS = ['vantage-source', 'module', 'node'];

/** Modules of this repository are imported for their exports alone: those of which a program uses none are left out. */
const OURS = /^[^?]*\/(?:apps|packages)\/[^/]+\/(?:src|serve)\/[^?]*\.ts$/;

/**
 * Bundles those programs whose files were made from other sources than the current ones.
 *
 * @param {readonly (keyof typeof PROGRAMS)[]} names
 * @param {{ readonly clean?: boolean }} options `clean` bundles in any case, and removes the files of all earlier
 *   builds
 */
export async function bundlePrograms(names, { clean = false } = {}) {
  const wanted = fingerprint();
  for (const name of names) {
    const dist = join(repository, 'apps', name, 'dist');
    const stamp = join(dist, '.bundled');
    if (!clean && isWhole(dist, stamp, wanted)) continue;
    rmSync(stamp, { force: true });
    const files = await bundle(PROGRAMS[name]);
    for (const file of files) write(join(dist, file.fileName), inAscii(file.code));
    removeOthers(dist, new Set(files.map(({ fileName }) => fileName)), clean ? 0 : KEPT_MS);
    writeFileSync(stamp, [wanted, ...files.map(({ fileName }) => fileName)].join('\n'));
  }
}

/** @returns whether the last bundle is of the same sources, and all of its files are there */
function isWhole(dist, stamp, wanted) {
  const [made, ...files] = readIfAny(stamp)?.split('\n') ?? [];
  return made === wanted && files.every((file) => existsSync(join(dist, file)));
}

async function bundle(entries) {
  const { build } = await import('vite');
  const { output } = await build({
    root: repository,
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    resolve: { conditions: CONDITIONS },
    // Native packages and those with data are loaded by `require`, and so stay outside.
    ssr: { noExternal: true, target: 'node', resolve: { conditions: CONDITIONS } },
    build: {
      ssr: true,
      write: false,
      target: 'node24',
      minify: false,
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, join(repository, file)])),
        treeshake: { moduleSideEffects: [{ test: OURS, sideEffects: false }] },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js', keepNames: true },
      },
    },
  });
  // The entries come last, so that a program that is started from one finds all other files.
  return output.filter(({ type }) => type === 'chunk').toSorted((a, b) => Number(a.isEntry) - Number(b.isEntry));
}

/**
 * Writes other characters than ASCII as escapes, because V8 keeps the text of a program: two bytes for each character
 * if any is above U+00FF. The raw text of a tagged template changes; its characters must be ASCII.
 *
 * @param {string} code
 */
export function inAscii(code) {
  return code.replace(/(\\*)([^\0-\x7f])/g, (_, backslashes, character) => {
    const escape = `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    // A backslash that escapes the character has no effect, and would escape that of `\u`.
    return (backslashes.length % 2 === 0 ? backslashes : backslashes.slice(1)) + escape;
  });
}

/** Changes with the sources and versions that a bundle is made of. */
function fingerprint() {
  const hash = createHash('sha256').update(`node ${process.versions.node}\n`);
  const files = globSync(INPUTS, { cwd: repository }).filter((file) => !file.endsWith('.test.ts'));
  for (const file of files.toSorted()) hash.update(`${file}\n`).update(readFileSync(join(repository, file)));
  return hash.digest('hex');
}

/** A program may be started at any moment, so no file may be seen half written. */
function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, text);
  renameSync(`${file}.${process.pid}`, file);
}

function removeOthers(dist, kept, olderThanMs) {
  for (const file of globSync('**/*.js', { cwd: dist })) {
    const path = join(dist, file);
    if (!kept.has(file) && Date.now() - statSync(path).mtimeMs >= olderThanMs) rmSync(path);
  }
}

function readIfAny(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2);
  await bundlePrograms(
    words.filter((word) => word !== '--clean'),
    { clean: words.includes('--clean') },
  );
}
