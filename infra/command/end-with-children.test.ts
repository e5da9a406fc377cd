import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { programEnv } from '@vantage/test-support/programs/program-env';

import { descendants } from './end-with-children.ts';

const folder = mkdtempSync(join(tmpdir(), 'vantage-signals-'));
const started: number[] = [];

afterEach(() => {
  for (const pid of started.splice(0)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Expected: the process has ended.
    }
  }
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
});

afterAll(() => rmSync(folder, { recursive: true }));

/** The first word of the command line of a process; empty if it has ended, even if nothing has waited for it. */
function nameOf(pid: number): string {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
    return words[0]!;
  } catch {
    return '';
  }
}

function start(main: string, ...flags: readonly string[]): ChildProcess {
  const file = fileURLToPath(new URL(`../${main}`, import.meta.url));
  const child = spawn(process.execPath, ['--conditions=vantage-source', '--no-warnings', file, ...flags], {
    env: programEnv({ TMPDIR: folder }),
    stdio: 'ignore',
  });
  started.push(child.pid!);
  return child;
}

describe('a command that a signal ends', () => {
  it.each([
    ['audit/main.ts', 'SIGTERM', ['--only', 'login']],
    ['audit/main.ts', 'SIGINT', ['--only', 'login']],
    ['fuzz/main.ts', 'SIGTERM', []],
    ['fuzz/main.ts', 'SIGINT', []],
    ['chaos/main.ts', 'SIGTERM', ['--only', 'overload']],
    ['chaos/main.ts', 'SIGINT', ['--only', 'monitors']],
    ['chaos/main.ts', 'SIGTERM', ['--only', 'browser killed']],
  ] as const)('leaves no process and no file behind: %s, %s, %j', async (main, signal, flags) => {
    const command = start(main, ...flags);
    const ended = once(command, 'exit');
    const hasServices = (): boolean =>
      descendants(command.pid!).filter((pid) => /redis|node/.test(nameOf(pid))).length >= 2;
    while (!hasServices() && command.exitCode === null) await sleep(50);
    const services = descendants(command.pid!);
    started.push(...services);
    // A terminal and `timeout` signal the whole process group, and npm and chaos pass the signal on: it arrives several
    // times.
    const again = setInterval(() => command.kill(signal), 2);
    command.kill(signal);
    await ended;
    clearInterval(again);

    expect(services.map(nameOf).filter((name) => name !== '')).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });
});
