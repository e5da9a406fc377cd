import { constants, fstatSync, openSync, write as writeFile, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';

/** Lines on their way to a file, a pipe or a terminal. A full disk or a reader that stands still costs lines, never time. */
export interface TextOutput {
  /** Never blocks, never throws. The line ends with a line feed. */
  readonly write: (line: string) => void;
  /** Lines that could not be written, since the start. */
  readonly dropped: () => number;
  /** Writes what can be written at once; for the end of the process. */
  readonly flushSync: () => void;
}

export interface DroppedLines {
  /** Lines since the last such report. */
  readonly dropped: number;
  /** Error code of the system, such as `ENOSPC`; `EAGAIN` for a reader that did not read. */
  readonly cause: string;
}

export interface TextOutputOptions {
  /** Called after lines were dropped, once lines are written again. */
  readonly onResumed?: (lines: DroppedLines) => void;
}

interface Batch {
  readonly bytes: Buffer;
  written: number;
  /** True while the system has it. */
  inFlight: boolean;
}

/** Lines that wait, in characters: some thousand. */
const MAX_WAITING = 1_048_576;
const FIRST_RETRY_MS = 5;
const LONGEST_RETRY_MS = 200;
const LINE_FEED = 0x0a;

export function openTextOutput(descriptor: number, { onResumed }: TextOutputOptions = {}): TextOutput {
  const target = withoutBlocking(descriptor);
  let waiting: string[] = [];
  let waitingLength = 0;
  let batch: Batch | undefined;
  /** The last line written lacks its end. */
  let isTorn = false;
  let [dropped, unreported, cause] = [0, 0, ''];

  const drop = (lines: number, why: string): void => {
    dropped += lines;
    unreported += lines;
    cause = why;
  };
  const takeWaiting = (): Buffer => {
    const bytes = Buffer.from(`${isTorn ? '\n' : ''}${waiting.join('')}`);
    [waiting, waitingLength] = [[], 0];
    return bytes;
  };
  const advance = (): void => {
    if (batch !== undefined || waiting.length === 0) return;
    batch = { bytes: takeWaiting(), written: 0, inFlight: false };
    send(batch, FIRST_RETRY_MS);
  };
  const end = (over: Batch): void => {
    batch = undefined;
    // A batch of which nothing arrived has not changed how the last line ends.
    if (over.written > 0) isTorn = over.bytes[over.written - 1] !== LINE_FEED;
    advance();
  };
  const send = (sent: Batch, retryMs: number): void => {
    sent.inFlight = true;
    writeFile(target, sent.bytes, sent.written, sent.bytes.length - sent.written, null, (error, count) => {
      sent.inFlight = false;
      if (error?.code === 'EAGAIN') {
        setTimeout(() => send(sent, Math.min(retryMs * 2, LONGEST_RETRY_MS)), retryMs).unref();
        return;
      }
      if (error !== null) {
        drop(countLines(sent.bytes.subarray(sent.written)), error.code ?? error.message);
        return end(sent);
      }
      sent.written += count;
      if (sent.written < sent.bytes.length) return send(sent, FIRST_RETRY_MS);
      end(sent);
      report();
    });
  };
  const report = (): void => {
    // Not into a queue that is nearly full, where the report would be the next line to be dropped.
    if (unreported === 0 || waitingLength > MAX_WAITING / 2) return;
    const lines = { dropped: unreported, cause };
    unreported = 0;
    onResumed?.(lines);
  };

  return {
    write: (line) => {
      if (waitingLength + line.length > MAX_WAITING) return drop(1, 'EAGAIN');
      waiting.push(line);
      waitingLength += line.length;
      advance();
    },
    dropped: () => dropped,
    flushSync: () => {
      // What the system has already is written by the time the process is gone.
      const left = batch === undefined || batch.inFlight ? [] : [batch.bytes.subarray(batch.written)];
      tryWrite(target, Buffer.concat([...left, takeWaiting()]));
    },
  };
}

/**
 * The descriptor, or another one for the same, whose writes fail with EAGAIN instead of blocking. Regular files always
 * take what comes, or fail.
 */
function withoutBlocking(descriptor: number): number {
  const kind = fstatSync(descriptor);
  if (kind.isFIFO() || kind.isSocket()) {
    // Node puts the descriptor of a socket into non-blocking mode. Nothing is written by way of the socket.
    new Socket({ fd: descriptor, readable: false, writable: true }).unref();
    return descriptor;
  }
  if (!isatty(descriptor)) return descriptor;
  try {
    // Of a terminal in a mode of its own: the shell that started us shares the descriptor.
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return descriptor;
  }
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (const byte of bytes) if (byte === LINE_FEED) lines += 1;
  return lines;
}

function tryWrite(descriptor: number, bytes: Buffer): void {
  try {
    for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
  } catch {
    // A full disk, or a reader that stands still: there is no time left to wait for either.
  }
}
