import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

import { step, execute } from './step.mjs';

/** What each target needs from the system: the program it looks for, and Debian's package that has it. */
const toStart = [
  // The server is the same executable as redis-check-rdb, which redis-tools has: nothing that starts a daemon is installed.
  { programs: ['redis-server', 'valkey-server', 'redis-check-rdb'], package: 'redis-tools', for: 'the store' },
];
const toCompile = [
  { programs: ['python3'], package: 'python3', for: 'compiling the raw socket module' },
  { programs: ['make'], package: 'make', for: 'compiling the raw socket module' },
  { programs: ['g++'], package: 'g++', for: 'compiling the raw socket module' },
];
const toTest = [
  { programs: ['ip'], package: 'iproute2', for: 'test networks in namespaces' },
  { programs: ['ping'], package: 'iputils-ping', for: 'a second opinion' },
  { programs: ['traceroute'], package: 'traceroute', for: 'a second opinion' },
  { programs: ['dig'], package: 'bind9-dnsutils', for: 'a second opinion' },
  { programs: ['curl'], package: 'curl', for: 'a second opinion' },
  { programs: ['openssl'], package: 'openssl', for: 'certificates of test servers' },
  {
    programs: ['chromium-headless-shell', 'chromium'],
    package: 'chromium-headless-shell',
    for: 'screenshots',
    // Not every system has the package, and everything but screenshots goes without it.
    optional: true,
  },
];

/**
 * Installs the missing ones by apt-get, as root or with sudo. Where that is not possible it says what is missing and
 * goes on: the program that needs it says so again.
 *
 * @param {'setup' | 'start' | 'test'} target
 * @param {{ toCompile: boolean }} needs false where the native module is there already
 */
export function installSystemPackages(target, needs) {
  const usesOwnRedis = target === 'start' && Boolean(process.env.REDIS_URL);
  const needed = [...toStart, ...(needs.toCompile ? toCompile : []), ...(target === 'start' ? [] : toTest)];
  const missing = needed.filter(
    ({ programs, package: name }) => !programs.some(isOnPath) && !(usesOwnRedis && name === 'redis-tools'),
  );
  if (missing.length === 0) return;

  const names = missing.map(({ package: name }) => name);
  const become = howToBecomeRoot();
  if (!isOnPath('apt-get') || become === undefined) {
    console.error(`Missing on this machine:\n${missing.map((entry) => `  ${entry.package}: ${entry.for}`).join('\n')}`);
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
    if (packages.length === 0) return;
    try {
      step(`Installing ${packages.join(', ')}`, () => {
        if (!isUpdated) apt('-o', 'DPkg::Lock::Timeout=300', 'update', '-qq');
        isUpdated = true;
        apt('-o', 'DPkg::Lock::Timeout=300', 'install', '-y', '-qq', '--no-install-recommends', ...packages);
      });
    } catch (error) {
      console.error(`  ${error.message.split('\n').slice(-4).join('\n  ')}`);
    }
  };
  const isOptional = (name) => missing.some((entry) => entry.package === name && entry.optional);
  install(...names.filter((name) => !isOptional(name)));
  for (const name of names.filter(isOptional)) install(name);
}

/** The words to put before a command; undefined where there is no way. */
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
