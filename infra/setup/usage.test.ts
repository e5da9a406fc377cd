import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

describe('npm run check that a signal ends', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
    // The set-up was killed.
    [undefined, 143],
  ] as const)('ends the program that it runs, and begins no other: %s', async (signal, status) => {
    const folder = mkdtempSync(join(tmpdir(), 'vantage-check-'));
    const pidFile = join(folder, 'pid');
    try {
      for (const part of ['check.mjs', 'setup']) {
        cpSync(join(root, 'infra', part), join(folder, 'infra', part), { recursive: true });
      }
      const programs = join(folder, 'node_modules/.bin');
      mkdirSync(programs, { recursive: true });
      const format = `#!/bin/sh\ntrap 'exit 0' HUP INT TERM\nsleep 300 &\necho $$ $! > ${pidFile}.new\nmv ${pidFile}.new ${pidFile}\nwait\n`;
      writeFileSync(join(programs, 'oxfmt'), format, { mode: 0o755 });
      writeFileSync(join(programs, 'tsc'), `#!/bin/sh\n: > ${join(folder, 'next')}\nexit 1\n`, { mode: 0o755 });
      const check = spawn(process.execPath, [join(folder, 'infra/check.mjs')], {
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      const ended = once(check, 'exit');
      while (!existsSync(pidFile) && check.exitCode === null) await sleep(20);
      const [shell, sleeper] = readFileSync(pidFile, 'utf8').split(' ').map(Number);
      try {
        if (signal === undefined) check.disconnect();
        else check.kill(signal);

        expect(await ended).toEqual([status, null]);
        expect(existsSync(`/proc/${shell}`)).toBe(false);
        expect(existsSync(join(folder, 'next'))).toBe(false);
      } finally {
        process.kill(sleeper!, 'SIGKILL');
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
