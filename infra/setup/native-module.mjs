import { existsSync, mkdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { findNode24 } from './node24.mjs';
import { repository } from './repository.mjs';
import { concurrentStep, execute, spawnConcurrently } from './step.mjs';

/**
 * Flags of Node's own build (`include/node/common.gypi`) that an add-on must share: without run-time type information
 * and exceptions, as V8 is; position-independent, as a shared object must be.
 */
const FLAGS = [
  '-std=gnu++20',
  '-O2',
  '-fPIC',
  '-pthread',
  '-fno-rtti',
  '-fno-exceptions',
  '-fno-strict-aliasing',
  '-w',
  ...['NODE_GYP_MODULE_NAME=raw', 'BUILDING_NODE_EXTENSION', 'USING_UV_SHARED=1', 'USING_V8_SHARED=1'].map(
    (name) => `-D${name}`,
  ),
  '-D_FILE_OFFSET_BITS=64',
  '-D_LARGEFILE_SOURCE',
  '-shared',
  '-rdynamic',
];

/**
 * The folder of raw-socket that the agent of `root` loads: of a checkout, or of what `pnpm deploy` made of the agent.
 *
 * @returns {string | undefined} undefined before the dependencies are installed
 */
function findPackage(root) {
  try {
    const user = realpathSync(join(root, 'node_modules/@vantage/diagnostics/package.json'));
    return dirname(realpathSync(createRequire(user).resolve('raw-socket/package.json')));
  } catch {
    return undefined;
  }
}

/** True if the Node that runs the agent loads the module, which shows that it fits this Node and the C library. */
export function loadsNativeModule(root = repository) {
  const folder = findPackage(root);
  return folder !== undefined && existsSync(binaryOf(folder)) && loadError(binaryOf(folder)) === undefined;
}

/**
 * Compiles raw-socket if the Node that runs the agent cannot load the existing build. No install script does this: pnpm
 * would run it with whichever Node is first on PATH, keep the result in its store and give it to other checkouts.
 *
 * @throws Error if raw-socket is not installed, with the compiler’s first error, or with Node’s reason not to load what
 *   was compiled
 */
export async function compileNativeModule(root = repository) {
  if (loadsNativeModule(root)) return;
  await concurrentStep('Compiling the raw socket module', async () => {
    const folder = findPackage(root);
    if (folder === undefined) throw new Error(`raw-socket is not installed in ${root}`);
    const fresh = `${binaryOf(folder)}.${process.pid}`;
    mkdirSync(dirname(fresh), { recursive: true });
    try {
      await compile(folder, fresh);
      const reason = loadError(fresh);
      if (reason !== undefined) throw new Error(`Node does not load what was compiled: ${reason}`);
      // A new file, moved: the old one may be a link into pnpm's store, or mapped by a running agent.
      renameSync(fresh, binaryOf(folder));
    } finally {
      rmSync(fresh, { force: true });
    }
  });
}

function binaryOf(folder) {
  return join(folder, 'build', 'Release', 'raw.node');
}

/** raw-socket's `binding.gyp` is one source and one include folder: node-gyp, make and Python would add nothing. */
async function compile(folder, output) {
  const nan = join(dirname(folder), 'nan');
  const args = [...FLAGS, `-I${headersOf(findNode24())}`, `-I${nan}`, join(folder, 'src', 'raw.cc'), '-o', output];
  const { status, error, stderr } = await spawnConcurrently(process.env.CXX ?? 'g++', args);
  if (error !== undefined) throw new Error(`the C++ compiler cannot be started: ${error.message}`);
  if (status !== 0) throw new Error(firstError(stderr));
}

/**
 * The C++ headers of the Node that runs the agent. The Node of a distribution may have them elsewhere, or in a separate
 * package.
 */
function headersOf({ executable, headers }) {
  const roots = [headers, dirname(dirname(realpathSync(executable))), process.env.npm_config_nodedir];
  const folders = roots.filter((root) => root !== undefined).map((root) => join(root, 'include', 'node'));
  const found = folders.find((folder) => existsSync(join(folder, 'node.h')));
  if (found === undefined) throw new Error(`the headers of Node are missing: no node.h in ${folders.join(', ')}`);
  return found;
}

function firstError(output) {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return lines.find((line) => /\berror:/.test(line)) ?? lines.at(-1) ?? 'the C++ compiler failed without a word';
}

/** Why the Node that runs the agent does not load the module; undefined if it does. */
function loadError(binary) {
  try {
    execute(findNode24().executable, ['-e', 'process.dlopen({ exports: {} }, process.argv[1])', binary]);
    return undefined;
  } catch (error) {
    return firstReason(error.message);
  }
}

function firstReason(text) {
  return text.split('\n').find((line) => /^\w*Error: /.test(line)) ?? text.split('\n').at(-1);
}

// In an image: node infra/setup/native-module.mjs <folder that pnpm deploy made>
if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    await compileNativeModule(resolve(process.argv[2] ?? repository));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
