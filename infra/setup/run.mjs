#!/usr/bin/env node
// The only entry of `npm run setup`, `npm start`, `npm run dev` and `npm test`. Runs on the machine's Node (20 or
// newer), installs everything else, and continues on Node 24. Imports only modules of Node and files of this folder.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { buildGeoData } from './geo-data.mjs';
import { installDependencies } from './dependencies.mjs';
import { compileNativeModule, loadsNativeModule } from './native-module.mjs';
import { findNode24 } from './node24.mjs';
import { buildPrograms } from './programs.mjs';
import { repository } from './repository.mjs';
import { installSystemPackages } from './system-packages.mjs';
import { checkUsage } from './usage.mjs';
import { buildWebPage } from './web-page.mjs';

const targets = {
  setup: undefined,
  start: ['apps/standalone/dist/main.js'],
  dev: ['--conditions=vantage-source', 'infra/dev/main.ts'],
  test: ['infra/check.mjs'],
};

const SKIP_SYSTEM_PACKAGES = '--no-system-packages';

const [target, ...given] = process.argv.slice(2);
const rest = given.filter((argument) => argument !== SKIP_SYSTEM_PACKAGES);
if (!Object.hasOwn(targets, target)) {
  console.error('usage: node infra/setup/run.mjs setup|start|dev|test [arguments]');
  process.exit(2);
}

// The usage needs nothing to be installed or built.
const usage = { setup: setupUsage, start: startUsage, dev: startUsage, test: () => checkUsage }[target]();
if (given.some((word) => word === '--help' || word === '-h')) {
  console.log(usage);
  process.exit(0);
}
if (/[#?]/.test(repository)) {
  console.error(
    `The path of the checkout contains "#" or "?", which Vite, the builder of the web page, takes for the end of a path; move the checkout to a folder without them: ${repository}`,
  );
  process.exit(1);
}
const fault = faultOf(target, rest);
if (fault !== undefined) {
  console.error(`${fault}\n\n${usage}`);
  process.exit(2);
}

try {
  if (!given.includes(SKIP_SYSTEM_PACKAGES)) installSystemPackages(target, { toCompile: !loadsNativeModule() });
  installDependencies();
  const builds = [
    provideNativeModule(),
    buildGeoData(),
    buildWebPage(),
    ...(target === 'start' ? [buildPrograms()] : []),
  ];
  const failed = (await Promise.allSettled(builds)).find(({ status }) => status === 'rejected');
  if (failed !== undefined) throw failed.reason;
} catch (error) {
  console.error(`\nSet-up failed: ${error.message}`);
  process.exit(1);
}
if (targets[target] !== undefined) run(targets[target]);

function setupUsage() {
  return `Installs and builds what the programs and the tests need.

  npm run setup -- [flags]

  ${SKIP_SYSTEM_PACKAGES}   installs no Debian packages
  --help                 this text`;
}

/** The fault of a command's arguments, if any; undefined for `npm test`, whose arguments jest checks. */
function faultOf(target, words) {
  if (target === 'start' || target === 'dev') return faultOfStart(words);
  return target === 'setup' && words.length > 0 ? `unexpected argument "${words[0]}"` : undefined;
}

/** The usage of `npm start`, read as text: nothing is compiled yet, and the Node of the machine may not read TypeScript. */
function startUsage() {
  const source = readFileSync(join(repository, 'apps/standalone/src/arguments.ts'), 'utf8');
  return /export const usage = `([^`]*)`/.exec(source)[1].trimEnd();
}

/**
 * Finds unknown flags, flags given twice, and values that the usage text does not allow; the program validates the rest
 * before it starts anything.
 */
function faultOfStart(words) {
  if (words.includes('--watch')) return 'unexpected --watch; "npm run dev" restarts programs when their sources change';
  const flags = [...startUsage().matchAll(/^ {2}--([\w-]+)(?: ([A-Z]+))?(?:.*?(\d+) to (\d+))?/gm)];
  const options = flags.map(([, name, value]) => [
    name,
    { type: value === undefined ? 'boolean' : 'string', multiple: true },
  ]);
  try {
    const { values } = parseArgs({ args: words, options: Object.fromEntries(options) });
    const twice = flags.find(([, name, value]) => value !== undefined && name !== 'allow' && values[name]?.length > 1);
    if (twice !== undefined) return `--${twice[1]} is given ${values[twice[1]].length} times; expected once`;
    for (const [, name, , least, most] of flags.filter(([, , value]) => value === 'N')) {
      const wrong = values[name]?.find((text) => !/^\d+$/.test(text) || +text < +least || +text > +most);
      if (wrong !== undefined) return `invalid --${name} "${wrong}"; expected an integer from ${least} to ${most}`;
    }
    if (values.data?.at(-1) === '') return 'invalid --data ""; expected a folder';
    const wrong = values.allow?.flatMap((text) => text.split(',')).find((text) => !isNetwork(text.trim()));
    return wrong === undefined ? undefined : `invalid --allow "${wrong}"; expected a CIDR such as 127.0.0.0/8`;
  } catch (error) {
    return error.message.replace(/^Option '(--[\w-]+) <value>' argument missing$/, 'flag "$1" needs a value');
  }
}

/** True for an IP address, alone or with a prefix length that is valid for its family. */
function isNetwork(text) {
  const [address, length, ...more] = text.split('/');
  const bits = { 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return more.length === 0 && bits > 0 && (length === undefined || (/^\d+$/.test(length) && +length <= bits));
}

/** Compiles the raw socket module. If that fails, ping and traceroute do not work, and the next start tries again. */
async function provideNativeModule() {
  try {
    await compileNativeModule();
  } catch (error) {
    console.error(`  ${error.message}\n  Without it the probes cannot ping or trace routes; everything else works.`);
  }
}

/** Runs the program with the output, the signals and the exit status of this process. */
function run(command) {
  const node = findNode24();
  const child = spawn(node.executable, [...command, ...rest], {
    cwd: repository,
    env: { ...process.env, PATH: node.path },
    // The channel carries no messages: it closes when this process is killed, and the program ends.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  stopWithNpm(child);
  // A terminal sends Ctrl-C to the whole group, so the child may have it already, and takes the two for one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(error.message);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

/**
 * Stops the child when npm was killed, which then cannot pass on a signal. Without npm the parent may be a shell, whose
 * exit means nothing.
 */
function stopWithNpm(child) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  const looking = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(looking);
    child.kill('SIGTERM');
  }, 500);
}
