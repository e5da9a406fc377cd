import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { repository } from './repository.mjs';
import { execute, step } from './step.mjs';

/** Wrote the lockfile. Not `packageManager` in package.json: pnpm 12 then wants to record itself in a frozen lockfile. */
export const PNPM = 'pnpm@12.21.0';

const stamp = join(repository, 'node_modules', '.vantage-setup');

/**
 * Installs what the lockfile says, Node 24 among it. No install script runs: one would run with the Node that started
 * us. The only one that is needed is `compileNativeModule`.
 */
export function installDependencies() {
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint()) return;
  const wanted = fingerprint();
  rmSync(stamp, { force: true });
  step('Installing the dependencies', () => pnpm(['install', '--frozen-lockfile', '--ignore-scripts']));
  writeFileSync(stamp, wanted);
}

function pnpm(args) {
  execute('npx', ['--yes', PNPM, ...args], { env: plainEnvironment() });
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
