import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';

/** Writes lines to a file, a pipe or a terminal. A full disk or a stalled reader drops lines instead of blocking. */
export interface TextOutput {
  /** Never blocks and never throws. `line` ends with a line feed. */
  readonly write: (line: string) => void;
  /** Lines dropped since the start. */
  readonly dropped: () => number;
  /** Writes whatever does not block; call it before the process exits. */
  readonly flushSync: () => void;
}

export interface DroppedLines {
  /** Lines dropped since the previous report. */
  readonly dropped: number;
  /** System error code, such as `ENOSPC`; `EAGAIN` for a stalled reader. */
  readonly cause: string;
}

export interface TextOutputOptions {
  /** Called when writing succeeds again after lines were dropped. */
  readonly onResumed?: (lines: DroppedLines) => void;
}

/** Bound of the buffer: several thousand lines. */
const MAX_WAITING_BYTES = 1_048_576;
const FIRST_RETRY_MS = 5;
const LONGEST_RETRY_MS = 200;
const LINE_FEED = 0x0a;

/**
 * Uses synchronous writes to a non-blocking descriptor: an asynchronous write in the thread pool could be overtaken by
 * the final writes of a process that exits.
 */
export function openTextOutput(descriptor: number, { onResumed }: TextOutputOptions = {}): TextOutput {
  const target = withoutBlocking(descriptor);
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  /** True if the last written line is incomplete. */
  let isTorn = false;
  /** True if the buffer starts within a partially written line. */
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

/** Returns a non-blocking descriptor for the same file: writes fail with EAGAIN. Regular files never block. */
function withoutBlocking(descriptor: number): number {
  const kind = fstatSync(descriptor);
  if (kind.isFIFO() || kind.isSocket()) {
    // Node sets O_NONBLOCK on a socket's descriptor. The socket object itself is not written to.
    new Socket({ fd: descriptor, readable: false, writable: true }).unref();
    return descriptor;
  }
  if (!isatty(descriptor)) return descriptor;
  try {
    // Reopens the terminal: the parent shell shares the original file description, and O_NONBLOCK would affect it.
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

/** `error`: system error code if not everything was written. */
function writeWhatFits(descriptor: number, bytes: Buffer): { readonly written: number; readonly error?: string } {
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(descriptor, bytes, written);
    return { written };
  } catch (error) {
    return { written, error: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
}
