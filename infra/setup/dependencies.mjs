import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { findNode24 } from './node24.mjs';
import { repository } from './repository.mjs';
import { execute, step } from './step.mjs';

/** Wrote the lockfile. Not `packageManager` in package.json: pnpm 12 then wants to record itself in a frozen lockfile. */
export const PNPM = 'pnpm@12.21.0';

const stamp = join(repository, 'node_modules', '.vantage-setup');

/** True when all that the lockfile says is there, the native module compiled. */
export function isInstalled() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint();
}

/**
 * Installs what the lockfile says, in two passes: first everything without install scripts, which brings Node 24 too;
 * then the scripts, run by Node 24. In one pass the native module would be compiled for the Node that started us.
 */
export function installDependencies() {
  if (isInstalled()) return;
  const wanted = fingerprint();
  rmSync(stamp, { force: true });

  step('Installing the dependencies', () =>
    pnpm(['install', '--frozen-lockfile', '--ignore-scripts'], process.env.PATH),
  );
  const node = findNode24();
  try {
    step('Compiling the raw socket module', () =>
      pnpm(['rebuild', '--pending'], node.path, node.headers === undefined ? {} : { npm_config_nodedir: node.headers }),
    );
  } catch (error) {
    console.error(
      `  It needs python3, make and g++. Without it the probes cannot ping or trace routes; all else works.\n  ${error.message.split('\n').at(-1)}`,
    );
    return; // No stamp: the next start tries again.
  }
  writeFileSync(stamp, wanted);
}

function pnpm(args, path, more = {}) {
  // Found beside the Node that started us: the one brought in has no npm of its own.
  execute('npx', ['--yes', PNPM, ...args], { env: { ...plainEnvironment(), PATH: path, ...more } });
}

/**
 * npm hands its own settings down as npm_* variables, and pnpm would take them for its own. What says how to reach the
 * registry stays.
 */
function plainEnvironment() {
  const kept = /^npm_config_(registry|proxy|https?_proxy|noproxy|cafile|strict_ssl)$/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name) || kept.test(name)));
}

/** Changes when an install would do something else: manifests, lockfile, settings, platform, Node. */
function fingerprint() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  const files = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests()];
  for (const file of files) hash.update(readFileSync(join(repository, file)));
  return hash.digest('hex');
}

function manifests() {
  return ['apps', 'packages']
    .flatMap((folder) => readdirSync(join(repository, folder)).map((name) => join(folder, name, 'package.json')))
    .filter((file) => existsSync(join(repository, file)));
}
