import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { takeDataFolder } from './data-folder.ts';

describe('the data folder', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vantage-test-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it('is taken with a note of who runs on it, and given back', async () => {
    const data = await takeDataFolder(folder);
    const note: unknown = JSON.parse(readFileSync(join(folder, 'running.json'), 'utf8'));
    data.release();

    expect(note).toEqual({ pid: process.pid, url: null, redis: null, processes: {} });
    expect(existsSync(join(folder, 'running.json'))).toBe(false);
  });

  it('is refused while another service runs on it', async () => {
    // Its command line has the word that tells the program from another one with the same process id.
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'standalone']);
    await once(other, 'spawn');
    const note = { pid: other.pid, url: 'http://127.0.0.1:8080', redis: null, processes: {} };
    writeFileSync(join(folder, 'running.json'), JSON.stringify(note));

    await expect(takeDataFolder(folder)).rejects.toThrow(
      `already running on ${folder} (process ${other.pid}, http://127.0.0.1:8080)`,
    );
    other.kill('SIGKILL');
  });

  it('is taken over from a process that is gone, and its Redis is ended', async () => {
    const redisFolder = join(folder, 'redis');
    mkdirSync(redisFolder);
    const orphan = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { cwd: redisFolder });
    await once(orphan, 'spawn');
    const ended = once(orphan, 'exit');
    const note = { pid: 2 ** 22, url: null, redis: { pid: orphan.pid, port: 1 }, processes: {} };
    writeFileSync(join(folder, 'running.json'), JSON.stringify(note));

    const data = await takeDataFolder(folder);

    expect(await ended).toEqual([null, 'SIGTERM']);
    data.release();
  });

  it('leaves a process alone that only has the process id of the old Redis', async () => {
    const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { cwd: tmpdir() });
    await once(stranger, 'spawn');
    const note = { pid: 2 ** 22, url: null, redis: { pid: stranger.pid, port: 1 }, processes: {} };
    writeFileSync(join(folder, 'running.json'), JSON.stringify(note));

    await takeDataFolder(folder);

    expect(stranger.exitCode).toBeNull();
    stranger.kill('SIGKILL');
  });
});
