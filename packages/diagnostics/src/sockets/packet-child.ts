import { spawn, type ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { escapeText } from '@vantage/contract';
import { awakeTimer } from '@vantage/timers';

import { errnoError, errnoOf } from './errno.ts';
import { frame, frameReader } from './channel/frames.ts';
import { decodeAnswer, encodeRequest, type Answer, type Request } from './channel/messages.ts';
import { PACKET_PROCESS_LOST } from './privilege.ts';

/** How the packet process is started; it alone needs CAP_NET_RAW. */
export interface PacketProcessOptions {
  /** The Node.js to run it with, such as a copy that carries the file capability; by default the agent's own. */
  readonly execPath?: string | undefined;
  /** A command that runs the following words, such as `['setpriv', '--ambient-caps', '+net_raw', …]`. */
  readonly commandPrefix?: readonly string[] | undefined;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  /** Called with each failure: a public sentence, and in `cause` the details for the operator's log. */
  readonly onFailure?: ((error: Error) => void) | undefined;
}

export interface PacketChild {
  readonly pid: number;
  readonly send: (request: Request) => void;
  /** Kills the process: `onLost` gets the reason. */
  readonly kill: (reason: string) => void;
  /** Closes the pipe, at which the process ends; kills it if it has not ended within `STOP_TIMEOUT_MS`. */
  readonly stop: () => Promise<void>;
}

export interface PacketChildListeners {
  readonly onAnswer: (answer: Answer) => void;
  /** Called once if the process ended or was killed after it was ready, except by `stop`. */
  readonly onLost: (error: Error) => void;
}

/** Far more than an idle machine needs: on a busy one, many programs may start at once. */
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 1_000;
const KEPT_STDERR_CHARACTERS = 2_000;
/**
 * Without the first flag the young generation grows to many times the required size. Turbofan maps 6 MiB more of Node's
 * binary, and its code is no faster here than that of Maglev.
 */
const NODE_FLAGS = ['--max-semi-space-size=1', '--no-turbofan'];
/**
 * One arena of glibc's malloc for all threads, and thresholds that no longer grow once they are set: else the process
 * keeps freed memory.
 */
const MALLOC_SETTINGS = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
} as const;

/**
 * Starts a packet process and waits until it is ready.
 *
 * @throws `NodeJS.ErrnoException` with code ECHILD if it cannot start or raw-socket cannot be loaded: the reason as a
 *   public sentence, with details for the operator in `cause`
 */
export function startPacketChild(options: PacketProcessOptions, listeners: PacketChildListeners): Promise<PacketChild> {
  return new Promise((resolve, reject) => {
    const child = spawnChild(options);
    const pipe = child.stdio[3] as Duplex;
    let lastWords = '';
    let state: 'starting' | 'ready' | 'over' = 'starting';

    const exited = new Promise<void>((done) => {
      child.once('exit', () => done());
      child.once('error', () => done());
    });
    const end = (reason: string, detail = ''): void => {
      if (state === 'over') return;
      const wasReady = state === 'ready';
      state = 'over';
      stopTimer();
      pipe.destroy();
      child.stderr?.destroy();
      child.kill('SIGKILL');
      const error = errnoError(
        wasReady ? PACKET_PROCESS_LOST : 'ECHILD',
        escapeText(`The packet process ${reason}.`, 256),
      );
      // Paths and stack traces are for the operator; the message is public.
      error.cause = [detail, lastWords].filter((text) => text !== '').join('\n');
      if (wasReady) listeners.onLost(error);
      else reject(error);
    };
    const stop = async (): Promise<void> => {
      state = 'over';
      pipe.end();
      const killer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await exited;
      clearTimeout(killer);
      pipe.destroy();
    };
    const receive = (answer: Answer): void => {
      if (answer.op !== 'ready') return state === 'ready' ? listeners.onAnswer(answer) : undefined;
      if (answer.errno !== '') return end(loadFailure(answer.errno, answer.reason), answer.reason);
      stopTimer();
      state = 'ready';
      const send = (request: Request): void => {
        corkForThisTurn(pipe);
        pipe.write(frame(encodeRequest(request)));
      };
      return resolve({ pid: child.pid ?? 0, stop, kill: end, send });
    };

    const stopTimer = awakeTimer(() => end('did not start in time'), START_TIMEOUT_MS);
    child.once('error', (error) => end(`cannot be started: ${errnoOf(error)}`, error.message));
    // `close` instead of `exit`, at which stderr may not have been read completely.
    child.once('close', (code, signal) => end(`ended with ${signal ?? `status ${code}`}`));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      lastWords = (lastWords + text).slice(-KEPT_STDERR_CHARACTERS);
    });
    pipe.on('error', (error) => end(`broke its pipe: ${errnoOf(error)}`));
    pipe.on('data', frameListener(receive, end));
  });
}

/** Collects requests that are sent one right after another in one write, which wakes the other process once. */
function corkForThisTurn(pipe: Duplex): void {
  if (pipe.writableCorked > 0) return;
  pipe.cork();
  process.nextTick(() => pipe.uncork());
}

/** Why the module could not be loaded. That it was built for another version of Node is only in the text. */
function loadFailure(code: string, reason: string): string {
  if (reason.includes('NODE_MODULE_VERSION')) {
    return 'has a raw socket module that was compiled for another version of Node.js; `npm run setup` compiles it';
  }
  if (/^(ERR_)?MODULE_NOT_FOUND$/.test(code)) return 'has no compiled raw socket module; `npm run setup` compiles it';
  return `cannot load the raw socket module (${code}); the log of the agent has the reason`;
}

function spawnChild({ execPath = process.execPath, commandPrefix = [], uid, gid }: PacketProcessOptions): ChildProcess {
  // Run from its source, the program needs the condition by which packages import each other's sources; as a bundle, it
  // is next to the bundle of the agent.
  const [file, flags] = import.meta.url.endsWith('.ts')
    ? ['process/packet-process.ts', [...NODE_FLAGS, '--conditions=vantage-source']]
    : ['packet-process.js', NODE_FLAGS];
  const program = fileURLToPath(new URL(file, import.meta.url));
  const [command, ...words] = [...commandPrefix, execPath, ...flags, program];
  return spawn(command, words, {
    // Descriptor 3 carries the frames. The agent's environment is not inherited, because it may contain secrets.
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...MALLOC_SETTINGS, PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  });
}

function frameListener(receive: (answer: Answer) => void, end: (reason: string) => void): (piece: Buffer) => void {
  const reader = frameReader();
  return (piece) => {
    let answers: Answer[];
    try {
      answers = reader.push(piece).map(decodeAnswer);
    } catch (error) {
      return end(`sent nonsense: ${Error.isError(error) ? error.message : 'unknown'}`);
    }
    return answers.forEach(receive);
  };
}
