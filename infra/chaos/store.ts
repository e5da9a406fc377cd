import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { findRedisServer, startRedisSentinel, startRedisServer, type RedisServer } from '@vantage/redis-server';

/** The Redis of a deployment, and what can happen to it. */
export interface Store {
  readonly url: string;
  /** Where there is one server and no more. */
  readonly port: number | undefined;
  /** Of the server that takes writes now. */
  readonly masterPort: () => Promise<number>;
  readonly masterPid: () => Promise<number>;
  /** SIGKILL; what is in the append-only file is there at the next start. */
  readonly kill: () => Promise<void>;
  readonly restart: () => Promise<void>;
  /** Fills the file system of the append-only file, or undefined where this needs rights that are not there. */
  readonly fillDisk: (() => void) | undefined;
  readonly freeDisk: () => void;
  readonly stop: () => Promise<void>;
}

const DISK_MIB = 96;

export async function keepStore(kind: 'single' | 'sentinel', folder: string): Promise<Store> {
  const executable = findRedisServer(process.env['PATH'] ?? '');
  if (executable === undefined) throw new Error('There is no redis-server on this machine: npm run setup installs it.');
  return kind === 'single' ? keepSingle(executable, folder) : keepSentinel(executable);
}

async function keepSingle(executable: string, folder: string): Promise<Store> {
  const dataFolder = join(folder, 'redis');
  mkdirSync(dataFolder);
  const disk = await mountSmallDisk(executable, folder, dataFolder);
  const where = {
    executable: disk?.executable ?? executable,
    dataFolder,
    logFile: join(folder, 'redis.log'),
    // With `everysec` Redis puts off a write to the file while the disk is busy with the one before, for up to two seconds.
    arguments: ['--auto-aof-rewrite-min-size', '8mb', '--appendfsync', 'always'],
  };
  let server: RedisServer;
  try {
    server = await startRedisServer(where);
  } catch (error) {
    await disk?.unmount();
    throw error;
  }
  const { port, url } = server;
  return {
    ...{ url, port },
    masterPort: async () => port,
    masterPid: async () => server.pid,
    kill: async () => {
      process.kill(server.pid, 'SIGKILL');
      await server.ended;
    },
    restart: async () => {
      server = await startRedisServer({ ...where, port });
    },
    fillDisk: disk?.fill,
    freeDisk: () => disk?.free(),
    stop: async () => {
      await server.stop();
      await disk?.unmount();
    },
  };
}

async function keepSentinel(executable: string): Promise<Store> {
  const set = await startRedisSentinel(executable);
  const masterPid = async (): Promise<number> => {
    const port = await set.masterPort();
    return set.servers.find((server) => server.port === port)!.pid;
  };
  const gone = async (): Promise<never> => {
    throw new Error('A server of this set is not started again.');
  };
  return {
    ...{ url: set.url, port: undefined, masterPort: set.masterPort, masterPid, restart: gone },
    kill: async () => void process.kill(await masterPid(), 'SIGKILL'),
    fillDisk: undefined,
    freeDisk: () => undefined,
    stop: set.stop,
  };
}

interface SmallDisk {
  /** Starts redis-server where the disk is. */
  readonly executable: string;
  readonly fill: () => void;
  readonly free: () => void;
  readonly unmount: () => Promise<void>;
}

/**
 * A small file system in memory at the data folder, in a mount namespace of its own that ends with its holder. Undefined
 * without root.
 */
async function mountSmallDisk(executable: string, folder: string, at: string): Promise<SmallDisk | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const mount = `mount -t tmpfs -o size=${DISK_MIB}m tmpfs "$0" && echo mounted && exec sleep 1000000`;
  const holder = spawn('unshare', ['--mount', 'sh', '-c', mount, at], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(holder, 'exit').catch(() => undefined);
  const mounted = await Promise.race([once(holder.stdout, 'data').then(() => true), ended.then(() => false)]);
  if (!mounted) return undefined;
  const script = join(folder, 'redis-server-on-small-disk');
  writeFileSync(
    script,
    `#!/bin/bash\nexec nsenter --mount=/proc/${holder.pid}/ns/mnt bash -c 'exec -a redis-server "$0" "$@"' '${executable}' "$@"\n`,
  );
  chmodSync(script, 0o755);
  const filler = `/proc/${holder.pid}/root${at}/filler`;
  return {
    executable: script,
    fill: () => {
      const file = openSync(filler, 'w');
      try {
        for (let left = DISK_MIB * 4; left > 0; left -= 1) writeSync(file, Buffer.alloc(256 * 1_024));
      } catch {
        // Full is what it shall be.
      }
      try {
        for (;;) if (writeSync(file, Buffer.alloc(1_024)) < 1_024) break;
      } catch {
        // Now to the last page.
      }
      closeSync(file);
    },
    free: () => rmSync(filler, { force: true }),
    unmount: async () => {
      holder.kill('SIGKILL');
      await ended;
    },
  };
}
