import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { whyNoAnswer } from './await-answer.ts';
import { freePort } from './free-port.ts';

/** A Redis (or Valkey) server on loopback, started as a child process. */
export interface RedisServer {
  readonly port: number;
  /** `redis://127.0.0.1:<port>` */
  readonly url: string;
  readonly pid: number;
  /** Resolves when the process has exited, for any reason. */
  readonly ended: Promise<void>;
  /** Sends SIGTERM, and SIGKILL after `ENDS_WITHIN_MS`; a temporary data folder is removed. */
  readonly stop: () => Promise<void>;
}

export interface RedisServerOptions {
  /** Path of the executable, from `findRedisServer`. */
  readonly executable: string;
  /** Folder of the append-only file; default: a temporary folder that `stop` removes. */
  readonly dataFolder?: string;
  /** File to which the server's output is appended; default: `redis.log` in the data folder. */
  readonly logFile?: string;
  readonly port?: number;
  /** True starts a new process group, so that Ctrl-C in the terminal does not reach it. */
  readonly detached?: boolean;
  /**
   * Password of the default user, if it has one. If it is not given here, the server seems ready while it still loads.
   */
  readonly password?: string;
  /** Additional arguments of redis-server, such as `--aclfile`. */
  readonly arguments?: readonly string[];
  /** Configuration file; a Sentinel rewrites it. */
  readonly configFile?: string;
  /** True starts a Sentinel, which holds no data. */
  readonly sentinel?: boolean;
  /** Called before the server loads its data. */
  readonly onSpawn?: (server: Pick<RedisServer, 'pid' | 'port'>) => void;
  /** Ends a start, also one that loads data. */
  readonly signal?: AbortSignal;
}

/** File with the server's process id: written before the data is loaded, removed on an orderly exit. */
export function redisPidFile(dataFolder: string): string {
  return join(dataFolder, 'redis.pid');
}

const durable = [
  '--appendonly',
  'yes',
  '--appendfsync',
  'everysec',
  '--save',
  '',
  '--maxmemory-policy',
  'noeviction',
  // Saves CPU time when the append-only file is rewritten.
  '--rdbcompression',
  'no',
];

/** Limit of the time for an orderly exit. */
const ENDS_WITHIN_MS = 15_000;
/** Attempts with different free ports: another process may bind one before the server does. */
const MOST_PORTS = 4;

/**
 * Starts a server on loopback: append-only file on, no eviction.
 *
 * @throws if there is no executable, if the server exits, if it is silent for `ANSWERS_WITHIN_MS` (a server that is
 * loading data answers LOADING), or if the signal aborts the start
 */
export async function startRedisServer(options: RedisServerOptions): Promise<RedisServer> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await startOn(options.port ?? (await freePort()), options);
    } catch (error) {
      const isTaken = Error.isError(error) && error.message.includes('Address already in use');
      if (!isTaken || options.port !== undefined || tried === MOST_PORTS) throw error;
    }
  }
}

async function startOn(port: number, options: RedisServerOptions): Promise<RedisServer> {
  const temporary = options.dataFolder === undefined ? mkdtempSync(join(tmpdir(), 'vantage-redis-')) : undefined;
  const folder = options.dataFolder ?? temporary!;
  const logFile = options.logFile ?? join(folder, 'redis.log');
  // A file instead of a pipe: the server may outlive this process, and output is not buffered in memory.
  const log = openSync(logFile, 'a');
  const logBytes = fstatSync(log).size;
  const child = spawn(
    options.executable,
    [
      ...(options.configFile === undefined ? [] : [options.configFile]),
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--dir',
      folder,
      '--pidfile',
      redisPidFile(folder),
      ...(options.sentinel === true ? ['--sentinel'] : durable),
      ...(options.arguments ?? []),
    ],
    {
      argv0: options.sentinel === true ? 'redis-sentinel' : 'redis-server',
      detached: options.detached ?? false,
      stdio: ['ignore', log, log],
    },
  );
  closeSync(log);
  if (child.pid !== undefined) options.onSpawn?.({ pid: child.pid, port });
  let fault = '';
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      fault = error.message;
      resolve();
    });
  });
  // Another server may hold the port, so the pid file must contain the process id of this child.
  const isOurs = (): boolean =>
    // Within a separate mount namespace the folder has another path.
    [folder, `/proc/${child.pid}/root${folder}`].some((at) => readPid(at) === child.pid);
  const { password, signal } = options;
  const silence = await whyNoAnswer(port, { ended, isOurs, password, signal });
  if (silence !== undefined) {
    const printed = readFileSync(logFile).subarray(logBytes).toString();
    await stop(child, ended, temporary);
    throw new Error(`redis-server did not start on port ${port}${silence}: ${`${printed}${fault}`.slice(-2000)}`);
  }
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    pid: child.pid!,
    ended,
    stop: () => stop(child, ended, temporary),
  };
}

async function stop(child: ChildProcess, ended: Promise<void>, temporary: string | undefined): Promise<void> {
  child.kill('SIGTERM');
  child.kill('SIGCONT');
  await Promise.race([ended, sleep(ENDS_WITHIN_MS, undefined, { ref: false })]);
  child.kill('SIGKILL');
  await ended;
  if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
}

function readPid(folder: string): number | undefined {
  try {
    return Number(readFileSync(redisPidFile(folder), 'utf8'));
  } catch {
    return undefined;
  }
}
