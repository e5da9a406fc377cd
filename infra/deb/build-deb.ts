import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

import { removeBuildPaths } from './build-paths.ts';
import { controlFile, libraryVersion, unitFile } from './control.ts';
import { filesIn, removeUnused, tidyFiles } from './tidy-files.ts';

const repository = join(import.meta.dirname, '../..');
const HOME = 'usr/lib/vantage-agent';
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const LICENCE = 'On Debian systems the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.';

/**
 * Builds the package of the agent for the architecture of this machine, with the Node of the lockfile: Debian 12 has
 * Node 18. The dependencies must be installed (`npm run setup`).
 *
 * @returns path of the package
 * @throws Error if this architecture has no package, or if a step fails, with its output
 */
export function buildDeb(folder: string): string {
  const architecture = ARCHITECTURES[process.arch];
  if (architecture === undefined) throw new Error(`no package for ${process.arch}; expected x64 or arm64`);
  const root = mkdtempSync(join(tmpdir(), 'vantage-deb-'));
  try {
    placeProgram(join(root, HOME));
    placeFiles(root);
    const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
      readonly version: string;
    };
    placeControl(root, { version, architecture });
    tidyFiles(root);
    const file = resolve(folder, `vantage-agent_${version}_${architecture}.deb`);
    mkdirSync(dirname(file), { recursive: true });
    // A higher level takes much longer and saves little.
    run('dpkg-deb', '--root-owner-group', '-Zxz', '-z1', '--build', root, file);
    return file;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** The program with its production dependencies, as the image of the agent has them. */
function placeProgram(home: string): void {
  const infra = join(repository, 'infra/setup');
  run(process.execPath, join(infra, 'bundle-programs.mjs'), '--clean', 'probe-agent');
  mkdirSync(dirname(home), { recursive: true });
  run(
    process.execPath,
    join(infra, 'pnpm.mjs'),
    // The folders of pnpm's own layout are named after the path of this checkout.
    '--config.node-linker=hoisted',
    '--filter',
    '@vantage/probe-agent',
    'deploy',
    '--prod',
    '--offline',
    home,
  );
  run(process.execPath, join(infra, 'native-module.mjs'), home);
  removeUnused(home);
  removeBuildPaths(home, repository);
  copyFileSync(nodeOfLockfile(), join(home, 'node'));
  chmodSync(join(home, 'node'), 0o755);
  for (const file of ['LICENSE', 'NOTICE']) copyFileSync(join(repository, file), join(home, file));
}

function nodeOfLockfile(): string {
  return join(repository, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin/node');
}

/** The files of the package besides the program. */
export function placeFiles(root: string): void {
  const agent = join(repository, 'infra/agent');
  const own = join(import.meta.dirname, 'files');
  cpSync(join(agent, 'plain-browser.sh'), join(root, HOME, 'plain-browser.sh'));
  chmodSync(join(root, HOME, 'plain-browser.sh'), 0o755);
  place(root, 'usr/bin/vantage-agent', readFileSync(join(own, 'vantage-agent.sh'), 'utf8'), 0o755);
  place(
    root,
    'usr/lib/systemd/system/vantage-agent.service',
    unitFile(readFileSync(join(agent, 'vantage-agent.service'), 'utf8')),
  );
  // No conffile: `vantage-agent enrol` writes to it, and dpkg would ask about it at each upgrade that changes it.
  place(root, 'usr/share/vantage-agent/agent.env', readFileSync(join(own, 'agent.env'), 'utf8'));
  const notice = readFileSync(join(repository, 'NOTICE'), 'utf8');
  place(root, 'usr/share/doc/vantage-agent/copyright', `${notice}\n${LICENCE}\n`);
  const changes = gzipSync(readFileSync(join(repository, 'CHANGELOG.md')), { level: 9 });
  place(root, 'usr/share/doc/vantage-agent/changelog.gz', changes);
}

function placeControl(root: string, release: { readonly version: string; readonly architecture: string }): void {
  const natives = filesIn(join(root, HOME), /\/(?:node|raw\.node)$/);
  const kibibytes = Number(run('du', '-sk', root).split('\t')[0]);
  const libc = libraryVersion(
    natives.map((file) => readFileSync(file)),
    'GLIBC',
  );
  place(root, 'DEBIAN/control', controlFile({ ...release, libc, kibibytes }));
  for (const script of ['postinst', 'prerm', 'postrm']) {
    place(root, `DEBIAN/${script}`, readFileSync(join(import.meta.dirname, 'files', `${script}.sh`), 'utf8'), 0o755);
  }
}

function place(root: string, path: string, content: string | Buffer, mode = 0o644): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  // The umask restricts the mode of a new file.
  chmodSync(file, mode);
}

function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', cwd: repository, stdio: ['ignore', 'pipe', 'pipe'] });
}
