import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { plainEnvironment, providePnpm } from './pnpm.mjs';
import { repository } from './repository.mjs';
import { execute, step } from './step.mjs';

const stamp = join(repository, 'node_modules', '.vantage-setup');

/**
 * Installs the packages of the lockfile, Node 24 among them. Runs no install scripts: they would run with the Node that
 * started this program. The only one that is needed is replaced by `compileNativeModule`.
 */
export function installDependencies() {
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint()) return;
  const wanted = fingerprint();
  rmSync(stamp, { force: true });
  step('Installing the dependencies', () => pnpm(['install', '--frozen-lockfile', '--ignore-scripts']));
  writeFileSync(stamp, wanted);
}

function pnpm(args) {
  execute(providePnpm(), args, { env: plainEnvironment() });
}

/** Changes when an install would do something else: manifests, lockfiles, settings, platform. */
function fingerprint() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  const files = [
    'package.json',
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    'infra/setup/pnpm/package-lock.json',
    ...manifests(),
  ];
  for (const file of files) hash.update(readFileSync(join(repository, file)));
  return hash.digest('hex');
}

function manifests() {
  return ['apps', 'packages']
    .flatMap((folder) => readdirSync(join(repository, folder)).map((name) => join(folder, name, 'package.json')))
    .filter((file) => existsSync(join(repository, file)));
}
