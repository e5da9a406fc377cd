import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { repository } from './repository.mjs';
import { step, execute } from './step.mjs';

/** System packages by purpose: programs of which one must exist, and the Debian package that has one of them. */
const toStart = [
  // The server is the same executable as redis-check-rdb, which redis-tools has: nothing that starts a daemon is
  // installed.
  { programs: ['redis-server', 'valkey-server', 'redis-check-rdb'], package: 'redis-tools', for: 'the store' },
  {
    programs: ['chromium-headless-shell', 'chromium'],
    package: 'chromium-headless-shell',
    for: 'screenshots',
    // Not every system has the package, and everything but screenshots works without it.
    optional: true,
  },
];
const toCompile = [{ programs: ['g++'], package: 'g++', for: 'compiling the raw socket module' }];
const toTest = [
  { programs: ['python3'], package: 'python3', for: 'test networks behind a TUN device' },
  { programs: ['ip'], package: 'iproute2', for: 'test networks in namespaces' },
  { programs: ['ping'], package: 'iputils-ping', for: 'a second opinion' },
  { programs: ['traceroute'], package: 'traceroute', for: 'a second opinion' },
  { programs: ['dig'], package: 'bind9-dnsutils', for: 'a second opinion' },
  { programs: ['curl'], package: 'curl', for: 'a second opinion' },
  { programs: ['openssl'], package: 'openssl', for: 'certificates of test servers' },
];

/** Optional packages that could not be installed are tried again after this time, not at every start. */
const ASK_AGAIN_AFTER_MS = 24 * 60 * 60 * 1_000;

/**
 * Installs the missing packages by apt-get, as root or with sudo. If that is impossible, prints what is missing and
 * continues: the program that needs a package reports it again.
 *
 * @param {'setup' | 'start' | 'dev' | 'test'} target
 * @param {{ toCompile: boolean }} needs `toCompile` is false if the native module can be loaded already
 */
export function installSystemPackages(target, needs) {
  const isBrought = {
    'redis-tools': Boolean(process.env.REDIS_URL),
    'chromium-headless-shell': Boolean(process.env.BROWSER) || process.env.SCREENSHOTS === 'off',
  };
  const needed = [...toStart, ...(needs.toCompile ? toCompile : []), ...(isToRun(target) ? [] : toTest)];
  const missing = needed.filter(
    ({ programs, package: name }) =>
      !programs.some(isOnPath) && !(isToRun(target) && (isBrought[name] === true || wasRefused(name))),
  );
  if (missing.length === 0) return;

  const names = missing.map(({ package: name }) => name);
  const become = howToBecomeRoot();
  if (!isOnPath('apt-get') || become === undefined) {
    console.error(
      `Missing on this machine:\n${missing.map((entry) => `  ${entry.package}: ${entry.for}${entry.optional ? ' (all else works without)' : ''}`).join('\n')}`,
    );
    console.error(
      isOnPath('apt-get')
        ? `Install them as root: apt-get install ${names.join(' ')}`
        : 'Install them with the package manager of this system.',
    );
    return;
  }
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) =>
    execute(become[0] ?? 'apt-get', [...become.slice(1), ...(become.length > 0 ? ['apt-get'] : []), ...args], {
      env: environment,
      stdio: ['inherit', 'pipe', 'pipe'],
    });
  let isUpdated = false;
  const install = (...packages) => {
    if (packages.length === 0) return true;
    try {
      step(`Installing ${packages.join(', ')}`, () => {
        if (!isUpdated) apt('-o', 'DPkg::Lock::Timeout=300', 'update', '-qq');
        isUpdated = true;
        apt('-o', 'DPkg::Lock::Timeout=300', 'install', '-y', '-qq', '--no-install-recommends', ...packages);
      });
      return true;
    } catch (error) {
      console.error(`  ${error.message.split('\n').slice(-4).join('\n  ')}`);
      return false;
    }
  };
  const optional = missing.filter((entry) => entry.optional);
  install(...missing.filter((entry) => !entry.optional).map((entry) => entry.package));
  for (const entry of optional) {
    noteRefusal(entry.package, !install(entry.package));
    if (wasRefused(entry.package)) console.error(`  It is for ${entry.for}; all else works without.`);
  }
}

function wasRefused(name) {
  const { mtimeMs = 0 } = statSync(refusalOf(name), { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs < ASK_AGAIN_AFTER_MS;
}

function noteRefusal(name, isRefused) {
  const note = refusalOf(name);
  if (isRefused) {
    mkdirSync(join(repository, '.vantage'), { recursive: true, mode: 0o700 });
    writeFileSync(note, '');
  } else {
    rmSync(note, { force: true });
  }
}

function refusalOf(name) {
  return join(repository, '.vantage', `no-${name}`);
}

/** To run and to develop the service no tools of the tests are needed. */
function isToRun(target) {
  return target === 'start' || target === 'dev';
}

/** Command prefix that gives root rights; undefined if there is none. */
function howToBecomeRoot() {
  if (process.getuid?.() === 0) return [];
  if (!isOnPath('sudo')) return undefined;
  if (process.stdin.isTTY) return ['sudo'];
  return spawnSync('sudo', ['-n', 'true']).status === 0 ? ['sudo', '-n'] : undefined;
}

function isOnPath(program) {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/bin', '/usr/sbin', '/sbin', '/bin', '/usr/local/bin'];
  return folders.some((folder) => folder !== '' && existsSync(`${folder}/${program}`));
}
