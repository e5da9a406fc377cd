import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from '@jest/globals';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';
import { programEnv } from '@vantage/test-support/programs/program-env';

import { takeDataFolder, withRunningService } from './running-service.ts';

/** Runs the bundled program of `npm run -s probe:<command>`, without any environment variable of a setting. */
function run(...args: readonly string[]): {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
} {
  return spawnSync(process.execPath, [bundledProgram('coordinator', 'admin/main'), ...args], {
    encoding: 'utf8',
    env: programEnv(),
  });
}

const commands = ['add', 'rotate', 'enable', 'remove', 'list', 'tls'];

describe('the help of the commands on probes', () => {
  it.each(commands)('says what %s does and takes', (command) => {
    const { status, stdout, stderr } = run(command, '--help');

    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^probe:${command} `));
    const named = new Set(
      stdout
        .split('\n', 3)
        .join(' ')
        .match(/--[a-z-]+/g),
    );
    const described = new Set([...stdout.matchAll(/^ {2}(--[a-z-]+) .*\.$/gm)].map(([, option]) => option));
    expect(described).toEqual(named);
    for (const other of commands.filter((name) => name !== command)) expect(stdout).not.toContain(`probe:${other}`);
  });

  it.each([
    ['--help', 1],
    ['doctor', 3],
  ])('ends with a reason if its output cannot be written: %s', (command, code) => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, [bundledProgram('coordinator', 'admin/main'), command], {
      encoding: 'utf8',
      env: { ...programEnv(), REDIS_URL: 'redis://127.0.0.1:1' },
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);

    expect(status).toBe(code);
    expect(stderr).toMatch(/^standard output: ENOSPC/);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  it.each([['help'], ['--help'], ['-h']])('says what all of them do: %s', (...args) => {
    const { status, stdout } = run(...args);

    expect(status).toBe(0);
    for (const command of commands) expect(stdout).toContain(`probe:${command} `);
  });

  it('is printed with other arguments too, and nothing is done', () => {
    expect(run('add', 'fra-1', '--name', 'Frankfurt', '-h').status).toBe(0);
  });

  it('is not given unasked', () => {
    const { status, stdout } = run('add', 'help');

    expect(status).toBe(2);
    expect(stdout).toBe('');
  });
});

describe('the help of the commands on keys', () => {
  it('says what one of them does and takes, and all of them among the others', () => {
    const one = run('key:add', '--help');
    const all = run('--help');

    expect([one.status, all.status]).toEqual([0, 0]);
    for (const option of ['--scopes', '--limit', '--expires', '--allow', '--json'])
      expect(one.stdout).toContain(option);
    expect(one.stdout).not.toMatch(/probe:|--overlap|key:rotate <name>/);
    for (const command of ['key:add', 'key:list', 'key:rotate', 'key:remove'])
      expect(all.stdout).toContain(`${command} `);
    expect(run('key:other').status).toBe(2);
  });
});

describe('--data', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-data-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('names the Redis of a service of npm start, before REDIS_URL', () => {
    writeFileSync(join(folder, 'running.json'), JSON.stringify({ redis: { pid: 1, port: 6 } }));
    mkdirSync(join(folder, 'redis'));
    writeFileSync(join(folder, 'redis', 'password'), 'secret\n');

    const environment = { REDIS_URL: 'redis://127.0.0.1:7' };
    expect(withRunningService(environment, folder)).toEqual({ REDIS_URL: 'redis://:secret@127.0.0.1:6' });
    expect(withRunningService(environment)).toEqual(environment);
    for (const args of [['--data', folder], [`--data=${folder}`]]) {
      expect(takeDataFolder(['doctor', ...args, '--json'])).toEqual({ args: ['doctor', '--json'], folder });
    }
  });

  it.each([
    ['doctor', 3],
    ['list', 2],
  ])('is refused by %s if no service runs there', (command, expected) => {
    const { status, stderr } = run(command, '--data', join(folder, 'absent'));

    expect(status).toBe(expected);
    expect(stderr).toMatch(/^--data: no service of npm start runs on /);
  });

  it('needs a value', () => {
    expect(run('doctor', '--data')).toMatchObject({ status: 3, stderr: '--data: needs a folder\n' });
  });
});
