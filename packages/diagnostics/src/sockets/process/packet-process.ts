import { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { frame, frameReader } from '../channel/frames.ts';
import { decodeRequest, encodeAnswer, type Answer } from '../channel/messages.ts';
import { errnoOf } from '../errno.ts';
import { findLibc } from '../libc.ts';
import { requireFromDiagnostics } from '../../native-packages.ts';
import { PacketServer } from './packet-server.ts';
import type { RawSocketLibrary } from './raw-sockets.ts';

/**
 * The packet process: the only part of an agent that loads raw-socket and needs CAP_NET_RAW. It knows packets,
 * identifiers and times, and nothing of checks. It speaks frames over descriptor 3 and ends with it.
 */

/** Maximum backlog for an agent that does not read; further packets are dropped, as by a full socket buffer. */
const MAX_BACKLOG_BYTES = 1_048_576;
const RELEASE_MEMORY_AFTER_MS = 10_000;

async function main(): Promise<void> {
  const pipe = new Socket({ fd: 3, readable: true, writable: true });
  const answerNow = (message: Answer): void => void pipe.write(frame(encodeAnswer(message)));
  const answer = (message: Answer): void => {
    corkForTwoTurns(pipe);
    answerNow(message);
  };
  // The agent has exited, or has closed the pipe.
  pipe.on('error', () => process.exit(0));
  pipe.on('close', () => process.exit(0));
  // A terminal and systemd signal the whole group: the agent drains, and still needs its packets.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  try {
    const require = requireFromDiagnostics();
    const library = require('raw-socket') as RawSocketLibrary;
    answerNow({ op: 'ready', errno: '', reason: '' });
    const isFull = (): boolean => pipe.writableLength >= MAX_BACKLOG_BYTES;
    const libc = await findLibc();
    const server = new PacketServer(library, libc, { answer, isFull });
    const releaseSoon = releaseAfter(libc?.trim);
    freeHeapOfStart();
    const reader = frameReader();
    pipe.on('data', (piece: Buffer) => {
      for (const body of reader.push(piece)) server.handle(decodeRequest(body));
      releaseSoon();
    });
  } catch (error) {
    answerNow({ op: 'ready', errno: errnoOf(error), reason: Error.isError(error) ? error.message : String(error) });
    pipe.end();
  }
}

/**
 * Frees the 3 MiB that loading the modules took. The flag is set here because on the command line it would let V8
 * discard the compiled code of Node's own modules.
 */
function freeHeapOfStart(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as NonNullable<typeof globalThis.gc>;
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/**
 * Returns freed memory to the system `RELEASE_MEMORY_AFTER_MS` after the first request since the last return. It takes
 * less than a millisecond, and distorts no time of a packet where the kernel dates arrivals: departures are dated just
 * before the send.
 */
function releaseAfter(release: (() => void) | undefined): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    if (release === undefined || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      release();
    }, RELEASE_MEMORY_AFTER_MS);
  };
}

/**
 * Collects the answers of this turn of the event loop and the next in one write, which wakes the agent once. Times are
 * taken before.
 */
function corkForTwoTurns(pipe: Socket): void {
  if (pipe.writableCorked > 0) return;
  pipe.cork();
  setImmediate(() => setImmediate(() => pipe.uncork()));
}

await main();
