import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';

import { usage } from '../../apps/standalone/src/arguments.ts';

const root = join(import.meta.dirname, '../..');

/** Runs `npm start`, or another target of the set-up, in a checkout in which nothing is installed; it must install nothing. */
function startFresh(
  words: readonly string[],
  target = 'start',
  name = 'vantage-fresh-',
): { readonly status: number | null; readonly printed: string } {
  const folder = mkdtempSync(join(tmpdir(), name));
  try {
    mkdirSync(join(folder, 'infra'));
    for (const part of ['infra/setup', 'apps/standalone/src/arguments.ts', 'package.json']) {
      const filter = (path: string): boolean => !path.includes('node_modules');
      cpSync(join(root, part), join(folder, part), { recursive: true, filter });
    }
    const program = [join(folder, 'infra/setup/run.mjs'), target, ...words];
    const { status, stdout, stderr } = spawnSync(process.execPath, program, { cwd: folder, encoding: 'utf8' });

    expect(readdirSync(folder).toSorted()).toEqual(['apps', 'infra', 'package.json']);
    return { status, printed: `${stdout}${stderr}`.trimEnd() };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('npm start in a fresh checkout', () => {
  it.each(['--help', '-h'])('shows its usage and installs nothing: %s', (flag) => {
    expect(startFresh(['--port', 'x', flag])).toEqual({ status: 0, printed: usage.trimEnd() });
  });

  it.each([
    [['--port', 'abc'], 'invalid --port "abc"; expected an integer from 0 to 65535'],
    [['--port', '65536'], 'invalid --port "65536"; expected an integer from 0 to 65535'],
    [['--probes', '0'], 'invalid --probes "0"; expected an integer from 1 to 16'],
    [['--rate-limit', '0'], 'invalid --rate-limit "0"; expected an integer from 1 to 1000000'],
    [['--allow', '300.1.1.1/8'], 'invalid --allow "300.1.1.1/8"; expected a CIDR'],
    [['--allow', '127.0.0.0/8,::1/129'], 'invalid --allow "::1/129"; expected a CIDR'],
    [['--watch'], 'unexpected --watch; "npm run dev" restarts programs when their sources change'],
    [['--port', '1', '--port=2'], '--port is given 2 times; expected once'],
    [['--probes=many'], 'invalid --probes "many"; expected an integer'],
    [['--prot', '80'], "Unknown option '--prot'"],
    [['--data'], 'flag "--data" needs a value'],
    [['--data='], 'invalid --data ""; expected a folder'],
    [['80'], "Unexpected argument '80'"],
  ])('says what is wrong with its flags and installs nothing: %j', (words, fault) => {
    const { status, printed } = startFresh(words);

    expect(status).toBe(2);
    expect(printed).toContain(fault);
    expect(printed).toContain(usage.trimEnd());
  });
});

describe('the other targets of the set-up in a fresh checkout', () => {
  it.each([
    ['dev', /^Runs the whole service on this machine/],
    ['setup', /npm run setup -- \[flags\]/],
    ['test', /npm test -- \[arguments of jest\]/],
  ])('show their usage and install nothing: %s', (target, printed) => {
    expect(startFresh(['--help'], target)).toEqual({ status: 0, printed: expect.stringMatching(printed) });
  });

  it.each([
    ['dev', ['--probes', '0'], /^invalid --probes "0"; expected an integer from 1 to 16/],
    ['setup', ['--nope'], /^unexpected argument "--nope"\n\nInstalls/],
  ])('say what is wrong with their flags and install nothing: %s', (target, words, printed) => {
    expect(startFresh(words, target)).toEqual({ status: 2, printed: expect.stringMatching(printed) });
  });
});

it('any other command in a fresh checkout says that the set-up comes first', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const ofSetup = (script: string): boolean => script.includes('infra/setup/run.mjs');
  const isProgram = (script: string): boolean => /\bnode /.test(script);
  const commands = Object.values(scripts).filter((script) => isProgram(script) && !ofSetup(script));
  const folder = mkdtempSync(join(tmpdir(), 'vantage-fresh-'));
  try {
    cpSync(join(root, 'infra/setup/ready.sh'), join(folder, 'infra/setup/ready.sh'));
    for (const script of commands) {
      const { status, stderr } = spawnSync('sh', ['-c', `${script} --help`], { cwd: folder, encoding: 'utf8' });

      expect({ script, status, stderr }).toEqual({
        script,
        status: 1,
        stderr: 'This checkout is not set up. Run "npm run setup" once, then this command again.\n',
      });
    }
    expect(commands.length).toBeGreaterThan(30);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('a checkout in a folder with a name that Vite cannot read', () => {
  it.each(['vantage-#', 'vantage-?q'])('is refused in a sentence before anything is installed: %s', (name) => {
    expect(startFresh([], 'start', name)).toEqual({
      status: 1,
      printed: expect.stringMatching(/^The path of the checkout contains "#" or "\?", which Vite, .*: .+$/),
    });
  });

  it('is not one with spaces, umlauts and percent signs', () => {
    expect(startFresh(['--nope'], 'start', 'vantage-ü %41 ')).toMatchObject({
      status: 2,
      printed: expect.stringContaining("Unknown option '--nope'"),
    });
  });
});

it('names a wrong flag of npm test before the other checks begin', () => {
  const program = [join(root, 'infra/check.mjs'), '--wrong-flag'];
  const { status, stdout, stderr } = spawnSync(process.execPath, program, { cwd: root, encoding: 'utf8' });

  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain('Unrecognized option "wrong-flag"');
  expect(stderr).not.toContain('format');
});

/** A checkout with this `npm run check` alone: its programs are shell scripts, and Jest a module. */
function checkout({
  programs = {},
  jest,
}: {
  readonly programs?: Record<string, string>;
  readonly jest: string;
}): string {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-check-'));
  for (const part of ['check.mjs', 'setup', 'jest/other-checks.mjs']) {
    const filter = (path: string): boolean => !path.includes('node_modules');
    cpSync(join(root, 'infra', part), join(folder, 'infra', part), { recursive: true, filter });
  }
  const runProgram = join(folder, 'infra/setup/run-program.mjs');
  writeFileSync(runProgram, readFileSync(runProgram, 'utf8').replace('GRACE_MS = 30_000', 'GRACE_MS = 1_000'));
  for (const name of ['node_modules/.bin', 'node_modules/jest/bin', 'infra/docs']) {
    mkdirSync(join(folder, name), { recursive: true });
  }
  for (const name of ['oxfmt', 'knip', 'tsc', 'oxlint']) {
    const script = `#!/bin/sh\ncd ${folder}\n${programs[name] ?? ''}\necho "${name} of $*"\n`;
    writeFileSync(join(folder, 'node_modules/.bin', name), script, { mode: 0o755 });
  }
  writeFileSync(join(folder, 'infra/docs/write-reference.ts'), 'console.error(process.argv.slice(2).join());');
  writeFileSync(
    join(folder, 'node_modules/jest/bin/jest.js'),
    `import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import OtherChecks from '../../../infra/jest/other-checks.mjs';
const reporter = new OtherChecks();
const write = (name, text = '') => writeFileSync(new URL('../../../' + name, import.meta.url), text);
${jest}
await reporter.onRunComplete();
console.error('SUMMARY');
`,
  );
  return folder;
}

interface Check {
  readonly folder: string;
  readonly child: ChildProcess;
  /** Exit status or signal, and everything that was printed. */
  readonly ended: Promise<{ readonly status: unknown; readonly printed: string }>;
}

/** Runs `npm run check` in such a checkout until `examine` has returned. */
async function withCheck(
  options: Parameters<typeof checkout>[0],
  examine: (check: Check) => Promise<void>,
): Promise<void> {
  const folder = checkout(options);
  const child = spawn(process.execPath, [join(folder, 'infra/check.mjs')], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  try {
    const exit = once(child, 'exit');
    const printed = Promise.all([text(child.stdout!), text(child.stderr!)]);
    const ended = Promise.all([exit, printed]).then(([[status], parts]) => ({ status, printed: parts.join('') }));
    await examine({ folder, child, ended });
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  }
}

/** Shell: waits until a file exists. */
const awaitFile = (name: string): string => `while [ ! -e ${name} ]; do sleep 0.05; done`;
const WAITS = 'await new Promise((resolve) => setTimeout(resolve, 600_000));';
/** Starts a process: `cat` ends with its parent, `sleep` does not. */
const starts = (program = 'cat'): string =>
  `write('pid', String(spawn('${program}', ${program === 'cat' ? '[]' : "['600']"}).pid));`;

/** Whether the process with the id in the file runs; one that has ended, and that nothing has waited for, has no words. */
function isRunning(file: string): boolean {
  const words = `/proc/${readFileSync(file, 'utf8').trim()}/cmdline`;
  return existsSync(words) && readFileSync(words, 'utf8') !== '';
}

describe('npm run check', () => {
  it.concurrent('prints what each check has printed, and last the summary of the tests', async () => {
    const programs = { oxlint: 'sleep 0.3' };
    await withCheck({ jest: '', programs }, async ({ ended }) => {
      const { status, printed } = await ended;

      expect(printed.trim().replaceAll(/\n+/g, '\n').split('\n')).toEqual([
        '── tests',
        '── format',
        'oxfmt of --check',
        '── reference pages',
        '--check',
        '── dead code',
        'knip of ',
        '── types',
        'tsc of -b --checkers 1',
        '── lint',
        'oxlint of --deny-warnings --report-unused-disable-directives',
        'SUMMARY',
      ]);
      expect(status).toBe(0);
    });
  });

  it('is the first reporter of Jest', () => {
    const config = readFileSync(join(root, 'jest.config.mjs'), 'utf8');

    expect(config).toContain("reporters: ['<rootDir>/infra/jest/other-checks.mjs', 'default'");
  });

  it.concurrent.each([
    ['types', 'tsc', 2, 'cat'],
    ['lint', 'oxlint', 1, 'sleep'],
  ])('ends the tests and all of their processes if a check fails: %s', async (title, name, status, program) => {
    const programs = { [name]: `${awaitFile('pid')}; echo the fault; echo the reason >&2; exit ${status}` };
    await withCheck({ jest: starts(program) + WAITS, programs }, async ({ folder, ended }) => {
      const result = await ended;

      expect(result.status).toBe(status);
      expect(result.printed).toMatch(new RegExp(`\n── ${title}\nthe fault\nthe reason\n\n${title}: failed\n$`));
      expect(isRunning(join(folder, 'pid'))).toBe(false);
    });
  });

  it.concurrent('fails if a check fails when all tests have passed, with the summary', async () => {
    const programs = { knip: `${awaitFile('passed')}; sleep 0.3; echo the fault; exit 3` };
    await withCheck({ jest: "setTimeout(() => write('passed'), 100);", programs }, async ({ ended }) => {
      expect(await ended).toEqual({
        status: 3,
        printed: expect.stringMatching(/\n── dead code\nthe fault\nSUMMARY\n\ndead code: failed\n$/),
      });
    });
  });

  it.concurrent.each([
    ['before the other checks have ended', 'process.exitCode = 4;', 'sleep 0.3'],
    [
      'after them',
      `process.exitCode = 4; while (!existsSync('linted')) await sleep(20); await sleep(300);`,
      ': > linted',
    ],
  ])('fails if a test fails %s', async (_, jest, oxlint) => {
    const imports =
      "import { existsSync } from 'node:fs'; import { setTimeout as sleep } from 'node:timers/promises';\n";
    await withCheck({ jest: imports + jest, programs: { oxlint } }, async ({ ended }) => {
      expect(await ended).toEqual({ status: 4, printed: expect.stringMatching(/\n── lint\noxlint of .*\nSUMMARY\n$/) });
    });
  });

  it.concurrent('fails if Jest ends in the middle of the tests', async () => {
    await withCheck({ jest: "process.kill(process.pid, 'SIGKILL');" }, async ({ ended }) => {
      expect(await ended).toEqual({ status: 137, printed: expect.stringMatching(/\n── lint\noxlint of .*\n$/) });
    });
  });

  it.concurrent.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
    // The set-up was killed.
    [undefined, 143],
  ] as const)('ends all that it runs after a signal, and begins no other check: %s', async (signal, status) => {
    const programs = {
      oxfmt: `trap 'exit 0' HUP INT TERM; ${awaitFile('pid')}; echo $$ > pid-of-format; while :; do sleep 0.1; done`,
      knip: ': > next',
    };
    await withCheck({ jest: starts() + WAITS, programs }, async ({ folder, child, ended }) => {
      const pids = ['pid', 'pid-of-format'].map((name) => join(folder, name));
      while (!existsSync(pids[1]!) && child.exitCode === null) await sleep(20);
      if (signal === undefined) child.disconnect();
      else child.kill(signal);

      expect((await ended).status).toBe(status);
      expect(pids.map(isRunning)).toEqual([false, false]);
      expect(existsSync(join(folder, 'next'))).toBe(false);
    });
  });
});
