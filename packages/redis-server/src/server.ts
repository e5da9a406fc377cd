import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, closeSync, constants, fstatSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A Redis (or Valkey) server of our own on loopback. */
export interface RedisServer {
  readonly port: number;
  /** `redis://127.0.0.1:<port>` */
  readonly url: string;
  readonly pid: number;
  /** Resolves when the process has ended, whoever ended it. */
  readonly ended: Promise<void>;
  /** SIGTERM: Redis saves and ends; data of a temporary folder is removed. */
  readonly stop: () => Promise<void>;
}

export interface RedisServerOptions {
  /** The executable, as `findRedisServer` gives it. */
  readonly executable: string;
  /** Where the append-only file lives; without it a temporary folder that `stop` removes. */
  readonly dataFolder?: string;
  /** What the server prints is added to it; without it `redis.log` beside the append-only file. */
  readonly logFile?: string;
  readonly port?: number;
  /** True puts it into a process group of its own, out of reach of Ctrl-C in the terminal. */
  readonly detached?: boolean;
  /** More arguments of redis-server, such as `--aclfile`. */
  readonly arguments?: readonly string[];
  /** A file of settings, which a Sentinel writes to. */
  readonly configFile?: string;
  /** True starts a Sentinel: it holds no data. */
  readonly sentinel?: boolean;
}

/** Where a server writes its process id before it loads its data, and what it removes when it ends in order. */
export function redisPidFile(dataFolder: string): string {
  return join(dataFolder, 'redis.pid');
}

const durable = [
  ...['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', '', '--maxmemory-policy', 'noeviction'],
  // A rewrite of the append-only file takes its time on a core: compression is most of it.
  ...['--rdbcompression', 'no'],
];

/** Longest silence of a server that starts. */
const ANSWERS_WITHIN_MS = 30_000;
/** What a server has to save and to end in order. */
const ENDS_WITHIN_MS = 15_000;
/** Ports that are tried where none is asked for: somebody else may take one in the moment before the server does. */
const MOST_PORTS = 4;

/**
 * The Redis or Valkey server on PATH or where Debian puts it, or undefined. `redis-check-rdb` is the same executable,
 * told apart by the name it is called by; Debian's redis-tools has it without a daemon that starts by itself.
 */
export function findRedisServer(path: string): string | undefined {
  return ['redis-server', 'valkey-server', 'redis-check-rdb']
    .flatMap((name) => [...path.split(delimiter), '/usr/bin', '/usr/local/bin'].map((folder) => join(folder, name)))
    .find(isExecutable);
}

/**
 * Starts a server that only loopback reaches: append-only file on, nothing evicted.
 *
 * @throws when there is no executable, or when it ends or says nothing for half a minute; a server that loads its file says so
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
  // A file and no pipe: it outlives us, and nothing of it is kept in memory.
  const log = openSync(logFile, 'a');
  const logBytes = fstatSync(log).size;
  const child = spawn(
    options.executable,
    [
      ...(options.configFile === undefined ? [] : [options.configFile]),
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--pidfile', redisPidFile(folder)],
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
  let fault = '';
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      fault = error.message;
      resolve();
    });
  });
  // Another server may hold the port and answer: ours has written its process id before it does.
  const isOurs = (): boolean =>
    // In a mount namespace of its own its folder is another one than ours.
    [folder, `/proc/${child.pid}/root${folder}`].some((at) => readPid(at) === child.pid);
  if (!(await answers(port, ended, isOurs))) {
    const printed = readFileSync(logFile).subarray(logBytes).toString();
    await stop(child, ended, temporary);
    throw new Error(`redis-server did not start on port ${port}: ${`${printed}${fault}`.slice(-2000)}`);
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

/** True once the server says PONG. While it loads its file, however long that takes, it says LOADING. */
async function answers(port: number, ended: Promise<void>, isOurs: () => boolean): Promise<boolean> {
  let gone = false;
  void ended.then(() => (gone = true));
  let until = performance.now() + ANSWERS_WITHIN_MS;
  while (!gone && performance.now() < until) {
    const reply = await ping(port);
    // With a password or ACL in force the refusal is an answer too.
    if (/^(\+PONG|-NOAUTH)/.test(reply) && isOurs()) return !gone;
    if (reply.startsWith('-LOADING')) until = performance.now() + ANSWERS_WITHIN_MS;
    await sleep(20);
  }
  return false;
}

function readPid(folder: string): number | undefined {
  try {
    return Number(readFileSync(redisPidFile(folder), 'utf8'));
  } catch {
    return undefined;
  }
}

/** @returns the reply, or nothing where there is none within a second */
function ping(port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write('PING\r\n'));
    const settle = (reply: string): void => {
      socket.destroy();
      resolve(reply);
    };
    socket.setTimeout(1_000, () => settle(''));
    socket.once('data', (data) => settle(data.toString()));
    socket.once('error', () => settle(''));
    socket.once('close', () => settle(''));
  });
}

/** Below the ports that the kernels of Linux and macOS give away by themselves, and above those of well-known servers. */
const PORTS = { from: 12_000, to: 32_000 } as const;

/**
 * A port of loopback that was free a moment ago. It is none that the kernel gives to a connection or to a server on port 0:
 * nobody takes it by chance before its server is up, or while that is started again.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.to - PORTS.from));
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
