import { spawn, type ChildProcess } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import type { Server } from 'node:net';
import type { Readable, Writable } from 'node:stream';

import { escapeText } from '@vantage/contract';
import { readFirstTimer } from '@vantage/timers';

import { errorText } from '../error-text.ts';
import { browserFlags } from './flags.ts';
import { inNamespace, listenerFrom, SYSTEM_PATH, type Identity } from './namespace.ts';
import { pipeTransport, type PipeTransport } from './pipe-transport.ts';
import { processGroup, type ProcessGroup } from './process-group.ts';
import { makeTempFolder, removeTempFolder, type Owner } from './temp-folder.ts';

export interface LaunchOptions extends Identity {
  readonly executablePath: string;
  /** True to run the browser in a network namespace whose only way out is the listener of the proxy. */
  readonly namespace: boolean;
  readonly tempFolder: string;
  readonly owner: Owner;
  readonly proxyPort: number;
  readonly userAgent: string;
  /** Limit of the resident memory of all its processes, above which it is killed; bytes. */
  readonly memoryBytes: number;
  /** Changes the command line; for tests of the effect of flags. */
  readonly changeFlags?: ((flags: readonly string[]) => readonly string[]) | undefined;
}

export interface RunningBrowser {
  readonly transport: PipeTransport;
  readonly group: ProcessGroup;
  /** Listener in the browser's namespace, for the proxy. Never settles without a namespace or if the start fails. */
  readonly listener: Promise<Server>;
  /** Kills every process; the first reason is kept. Pending calls of puppeteer reject. */
  readonly end: (reason: string) => void;
  /** Resolves with the reason of its end, also if it could not be started. */
  readonly ended: Promise<string>;
  /** Resolves when its processes and files are gone. */
  readonly close: () => Promise<void>;
}

const MESSAGE_LIMITS = { messageBytes: 8 * 1024 * 1024, totalBytes: 64 * 1024 * 1024, messages: 20_000 };
const WATCH_EVERY_MS = 100;
const DYING_MS = 2_000;
const KEPT_STDERR_CHARACTERS = 2_000;
const ENOUGH_SHARED_MEMORY = 256 * 1024 * 1024;

/** Starts a browser with a separate folder and process group. */
export async function launchBrowser(options: LaunchOptions): Promise<RunningBrowser> {
  const folder = await makeTempFolder(options.tempFolder, options.owner, options);
  try {
    return run(spawnBrowser(options, folder, await hasSharedMemory()), folder, options.memoryBytes);
  } catch (error) {
    await removeTempFolder(folder);
    throw error;
  }
}

function spawnBrowser(options: LaunchOptions, folder: string, hasSharedMemory: boolean): ChildProcess {
  const { executablePath, proxyPort, userAgent, uid, gid, changeFlags = (flags) => flags } = options;
  const flags = browserFlags({ proxyPort, userAgent, profileFolder: `${folder}/profile`, hasSharedMemory });
  const bare = [executablePath, ...changeFlags(flags)] as const;
  const [command, ...words] = options.namespace ? inNamespace({ uid, gid }, bare) : bare;
  return spawn(command, words, {
    cwd: folder,
    // The browser leads a process group, so that one signal reaches all its processes.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', ...(options.namespace ? (['ipc'] as const) : [])],
    // The browser does not inherit the agent's environment, which may contain secrets.
    env: {
      PATH: SYSTEM_PATH,
      HOME: folder,
      TMPDIR: folder,
      XDG_CONFIG_HOME: folder,
      XDG_CACHE_HOME: folder,
      LANG: 'C.UTF-8',
      TZ: 'UTC',
    },
    // With uid and gid, Node also drops the supplementary groups of a root agent. In a namespace, setpriv does so.
    ...(uid === undefined || options.namespace ? {} : { uid, gid: gid ?? uid }),
  });
}

function run(child: ChildProcess, folder: string, memoryBytes: number): RunningBrowser {
  const ended = Promise.withResolvers<string>();
  let [over, lastWords] = [false, ''];
  let stopDying = (): void => undefined;
  const group = child.pid === undefined ? undefined : processGroup(child.pid);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });

  const end = (why: string): void => {
    if (over) return;
    over = true;
    ended.resolve(why);
    clearInterval(watch);
    transport.close();
    stopDying();
    // An error is ignored here: `close` kills the group again, waits, and reports it.
    group?.kill().catch(() => undefined);
  };
  const poll = async (): Promise<void> => {
    const bytes = (await group?.residentBytes()) ?? 0;
    if (bytes > memoryBytes) end(`the page took more than ${Math.round(memoryBytes / 1024 ** 2)} MiB of memory`);
  };
  const close = async (): Promise<void> => {
    end('it was closed');
    await group?.kill();
    if (group !== undefined) await exited;
    child.stderr?.destroy();
    if (child.connected) child.disconnect();
    await removeTempFolder(folder);
  };

  const [toBrowser, fromBrowser] = [child.stdio[3] as Writable, child.stdio[4] as Readable];
  const transport = pipeTransport(
    toBrowser,
    fromBrowser,
    MESSAGE_LIMITS,
    (what) => end(`the page flooded the browser: ${what}`),
    // A dying process closes its pipe first, and the exit status is more informative.
    () => {
      stopDying = readFirstTimer(() => end('it closed its pipe'), DYING_MS);
    },
  );
  const watch = setInterval(() => void poll().catch(() => undefined), WATCH_EVERY_MS);
  child.once('error', (error) => end(`it cannot be started: ${errorText(error)}`));
  child.once('exit', (code, signal) => end(`it ended with ${signal ?? `status ${code}`}. ${tail(lastWords)}`));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-KEPT_STDERR_CHARACTERS);
  });
  yieldProcessor(child.pid);
  return {
    transport,
    group: group ?? processGroup(0),
    listener: listenerFrom(child),
    end,
    ended: ended.promise,
    close,
  };
}

/** Lowers the priority of the browser, so that measurements come first; its children inherit the niceness. */
function yieldProcessor(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The browser may have exited, or have changed to another user; then its priority is unchanged.
  }
}

/**
 * True if `/dev/shm` has `ENOUGH_SHARED_MEMORY` free. Containers often have 64 MiB; a page that needs more crashes with
 * a bus error.
 */
async function hasSharedMemory(): Promise<boolean> {
  const shm = await statfs('/dev/shm').catch(() => undefined);
  return shm !== undefined && shm.bavail * shm.bsize >= ENOUGH_SHARED_MEMORY;
}

function tail(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.includes(':ERROR:dbus/'));
  return escapeText(lines.slice(-2).join(' '), 300);
}
