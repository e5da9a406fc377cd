import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';

/** Lines on their way to a file, a pipe or a terminal. A full disk or a reader that stands still costs lines, not time. */
export interface TextOutput {
  /** Waits for no reader and never throws. The line ends with a line feed. */
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

/** Bytes that wait: some thousand lines. */
const MAX_WAITING_BYTES = 1_048_576;
const FIRST_RETRY_MS = 5;
const LONGEST_RETRY_MS = 200;
const LINE_FEED = 0x0a;

/**
 * Every write is synchronous, to a descriptor that refuses instead of blocking: a write in the hands of another thread
 * could come after those that the end of the process makes.
 */
export function openTextOutput(descriptor: number, { onResumed }: TextOutputOptions = {}): TextOutput {
  const target = withoutBlocking(descriptor);
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  /** The last line written lacks its end. */
  let isTorn = false;
  /** What waits goes on where the last write stopped. */
  let isContinued = false;
  let retry: NodeJS.Timeout | undefined;
  let retryMs = FIRST_RETRY_MS;
  let [dropped, unreported, cause] = [0, 0, ''];

  const drop = (lines: number, why: string): void => {
    dropped += lines;
    unreported += lines;
    cause = why;
  };
  const wait = (bytes: Buffer): void => {
    waiting.push(bytes);
    waitingBytes += bytes.length;
  };
  const takeWaiting = (): Buffer => {
    const lineEnd = isTorn && !isContinued ? [Buffer.of(LINE_FEED)] : [];
    const bytes = Buffer.concat([...lineEnd, ...waiting]);
    [waiting, waitingBytes, isContinued] = [[], 0, false];
    return bytes;
  };
  const advance = (): void => {
    retry = undefined;
    if (waiting.length === 0) return;
    const lineEnd = isTorn && !isContinued ? 1 : 0;
    const bytes = takeWaiting();
    const { written, error } = writeWhatFits(target, bytes);
    if (written > 0) {
      isTorn = bytes[written - 1] !== LINE_FEED;
      retryMs = FIRST_RETRY_MS;
    }
    if (error === 'EAGAIN') {
      wait(bytes.subarray(written));
      isContinued = true;
      retry = setTimeout(advance, retryMs).unref();
      retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
    } else if (error === undefined) report();
    else drop(countLines(bytes.subarray(Math.max(written, lineEnd))), error);
  };
  const report = (): void => {
    if (unreported === 0) return;
    const lines = { dropped: unreported, cause };
    unreported = 0;
    onResumed?.(lines);
  };

  return {
    write: (line) => {
      const bytes = Buffer.from(line);
      if (waitingBytes + bytes.length > MAX_WAITING_BYTES) return drop(1, 'EAGAIN');
      wait(bytes);
      if (retry === undefined) advance();
    },
    dropped: () => dropped,
    flushSync: () => void writeWhatFits(target, takeWaiting()),
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

/** `error` is the system's code for why not all was written. */
function writeWhatFits(descriptor: number, bytes: Buffer): { readonly written: number; readonly error?: string } {
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(descriptor, bytes, written);
    return { written };
  } catch (error) {
    return { written, error: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
}
