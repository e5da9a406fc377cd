// The pnpm that the lockfile was written with: node infra/setup/pnpm.mjs <arguments>
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { repository } from './repository.mjs';
import { execute } from './step.mjs';

const folder = join(repository, 'infra', 'setup', 'pnpm');
const stamp = join(folder, 'node_modules', '.vantage-pnpm');

/**
 * Installs pnpm if it is not there. npm compares each file that it downloads with the hash in our `package-lock.json`,
 * where npx would trust whatever the registry says. The lockfile has the packages of pnpm for Linux on x64 and arm64;
 * that of another platform is not compared.
 *
 * @returns {string} the program
 * @throws Error when npm fails, for example because a download is not what was pinned
 */
export function providePnpm() {
  const wanted = createHash('sha256')
    .update(readFileSync(join(folder, 'package-lock.json')))
    .update(`${process.platform} ${process.arch}`)
    .digest('hex');
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
    rmSync(join(folder, 'node_modules'), { recursive: true, force: true });
    const quiet = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--no-save'];
    execute('npm', ['install', ...quiet], { cwd: folder, env: plainEnvironment() });
    writeFileSync(stamp, wanted);
  }
  return join(folder, 'node_modules', '.bin', 'pnpm');
}

/** npm passes its settings on as npm_* variables, which pnpm would take for its own; settings of the registry stay. */
export function plainEnvironment() {
  const kept = /^npm_config_(registry|proxy|https?_proxy|noproxy|cafile|strict_ssl)$/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name) || kept.test(name)));
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { status } = spawnSync(providePnpm(), process.argv.slice(2), { stdio: 'inherit', env: plainEnvironment() });
  process.exit(status ?? 1);
}
