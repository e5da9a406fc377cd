import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { redisPidFile } from '@vantage/redis-server';

import { claimDataFolder } from './data-folder.ts';

function redisFolderOf(folder: string): string {
  const redisFolder = join(folder, 'redis');
  mkdirSync(redisFolder, { recursive: true });
  return redisFolder;
}

/** Recreates the state after a killed service: `running.json` and the pid file of its Redis. */
function leaveBehind(folder: string, redisPid: number): void {
  const note = { pid: 2 ** 22, url: null, redis: { pid: redisPid, port: 1 }, processes: {} };
  writeFileSync(join(folder, 'running.json'), JSON.stringify(note));
  writeFileSync(redisPidFile(redisFolderOf(folder)), `${redisPid}\n`);
}

describe('the data folder', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vantage-test-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it('is taken with a note of who runs on it, and given back', async () => {
    const data = await claimDataFolder(folder);
    const note: unknown = JSON.parse(readFileSync(join(folder, 'running.json'), 'utf8'));
    data.release();

    expect(note).toEqual({ pid: process.pid, url: null, redis: null, processes: {} });
    expect(existsSync(join(folder, 'running.json'))).toBe(false);
  });

  it('is refused while another service runs on it', async () => {
    // `standalone` in its command line marks the process as a service, not as another program that reuses the process
    // id.
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'standalone']);
    await once(other, 'spawn');
    const note = { pid: other.pid, url: 'http://127.0.0.1:8080', redis: null, processes: {} };
    writeFileSync(join(folder, 'running.json'), JSON.stringify(note));

    await expect(claimDataFolder(folder)).rejects.toThrow(
      `already running on ${folder} (process ${other.pid}, http://127.0.0.1:8080)`,
    );
    other.kill('SIGKILL');
  });

  it('is taken over from a process that is gone, and its Redis is ended', async () => {
    const orphan = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { cwd: redisFolderOf(folder) });
    await once(orphan, 'spawn');
    const ended = once(orphan, 'exit');
    leaveBehind(folder, orphan.pid!);

    const data = await claimDataFolder(folder);

    expect(await ended).toEqual([null, 'SIGTERM']);
    data.release();
  });

  it('is taken over just so when it is named by a symbolic link', async () => {
    const orphan = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { cwd: redisFolderOf(folder) });
    await once(orphan, 'spawn');
    const ended = once(orphan, 'exit');
    leaveBehind(folder, orphan.pid!);
    const link = `${folder}-link`;
    symlinkSync(folder, link);

    const data = await claimDataFolder(link);

    expect(await ended).toEqual([null, 'SIGTERM']);
    data.release();
    rmSync(link);
  });

  it('is refused with a way out where it cannot be made', async () => {
    writeFileSync(join(folder, 'file'), '');

    await expect(claimDataFolder(join(folder, 'file'))).rejects.toThrow(
      /cannot be used: .*\nChoose another with --data/,
    );
  });

  it('is refused below a folder that takes no entries, in which Node would never return', () => {
    const module = JSON.stringify(join(import.meta.dirname, 'data-folder.ts'));
    const program = `
      const { claimDataFolder } = await import(${module});
      await claimDataFolder('/proc/x').catch((error) => console.log(error.message));`;
    const node = ['--conditions=vantage-source', '--input-type=module', '-e', program];

    // A process in an endless loop would not handle SIGTERM.
    const { stdout } = spawnSync(process.execPath, node, { encoding: 'utf8', timeout: 60_000, killSignal: 'SIGKILL' });

    expect(stdout).toMatch(/cannot be used: ENOENT.*'\/proc\/x'\.\nChoose another with --data/);
  });

  it('keeps what runs running when it is removed under it', async () => {
    const data = await claimDataFolder(join(folder, 'data'));
    rmSync(join(folder, 'data'), { recursive: true });

    expect(() => data.write({ pid: process.pid, url: null, redis: null, processes: {} })).not.toThrow();
  });

  it('leaves a process alone that only has the process id of the old Redis', async () => {
    const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { cwd: tmpdir() });
    await once(stranger, 'spawn');
    leaveBehind(folder, stranger.pid!);

    await claimDataFolder(folder);

    expect(stranger.exitCode).toBeNull();
    stranger.kill('SIGKILL');
  });
});
