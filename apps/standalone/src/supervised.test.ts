import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { until } from '@vantage/test-support/until';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { supervise, type Supervised } from './supervised.ts';

describe('a supervised program', () => {
  let folder: string;
  let reported: string[];
  let supervised: Supervised | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vantage-test-'));
    reported = [];
  });

  afterEach(async () => {
    await supervised?.stop();
    rmSync(folder, { recursive: true });
  });

  function run(source: string, graceMs = 5_000): Supervised {
    writeFileSync(join(folder, 'program.mjs'), source);
    supervised = supervise(
      {
        name: 'program',
        module: pathToFileURL(join(folder, 'program.mjs')),
        env: { WORD: 'hello' },
        logFile: join(folder, 'log'),
      },
      { onChange: () => undefined, report: (line) => reported.push(line), graceMs },
    );
    return supervised;
  }

  const log = (): string => readFileSync(join(folder, 'log'), 'utf8');

  it('gets its environment and writes into its log', async () => {
    run('console.log(process.env.WORD); setInterval(() => {}, 1000)');

    await until(() => log() !== '');

    expect(log()).toBe('hello\n');
  });

  it('is started again when it is killed, and reported', async () => {
    const { pid } = run('console.log("started"); setInterval(() => {}, 1000)');
    await until(() => log() !== '');
    const first = pid()!;
    process.kill(first, 'SIGKILL');

    await until(() => log() === 'started\nstarted\n');

    expect(pid()).not.toBe(first);
    expect(reported).toEqual([`program exited (SIGKILL); restarting it. Log: ${join(folder, 'log')}`]);
  });

  it('ends when it is stopped, and is not started again', async () => {
    const { pid, stop } = run('console.log("started"); setInterval(() => {}, 1000)');
    await until(() => log() !== '');

    await stop();

    expect([pid(), reported]).toEqual([undefined, []]);
  });

  it('is killed when it does not end in time', async () => {
    const { pid, stop } = run('process.on("SIGTERM", () => {}); console.log("deaf"); setInterval(() => {}, 1000)', 200);
    await until(() => log() !== '');
    const deaf = pid()!;

    await stop();

    expect(() => process.kill(deaf, 0)).toThrow('ESRCH');
  });

  it('tells what it printed before it ended with an error status, and nothing of an earlier run', async () => {
    writeFileSync(join(folder, 'log'), 'of an earlier run\n');
    const { failure } = run('console.error("PORT must be an integer"); process.exitCode = 1');

    await until(() => failure() !== undefined);

    expect(failure()).toBe('PORT must be an integer');
  });

  it('failed in nothing when it was killed', async () => {
    const { pid, failure } = run('console.log("started"); setInterval(() => {}, 1000)');
    await until(() => log() !== '');
    process.kill(pid()!, 'SIGKILL');

    await until(() => reported.length > 0);

    expect(failure()).toBeUndefined();
  });

  it('is tried again when its log cannot be opened', async () => {
    mkdirSync(join(folder, 'log'));

    run('process.exit(0)');
    await until(() => reported.length > 0);

    expect(reported[0]).toContain('EISDIR');
  });

  it('can be stopped while it waits to start again', async () => {
    const { stop } = run('process.exit(3)');
    await until(() => reported.length > 0);

    await stop();

    expect(reported).toEqual([expect.stringContaining('exited (status 3)')]);
  });
});
