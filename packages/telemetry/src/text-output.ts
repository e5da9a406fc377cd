import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { isatty } from 'node:tty';

/**
 * Writes lines to a file, a pipe or a terminal. If the disk is full or the reader stalls, lines are dropped instead of
 * blocking the process.
 */
export interface TextOutput {
  /** Never throws; may wait for a terminal that `withoutBlocking` cannot reopen. `line` ends with a line feed. */
  readonly write: (line: string) => void;
  /** Lines dropped since the start. */
  readonly dropped: () => number;
  /** Writes as much as does not block; to be called before the process exits. */
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

export function openTextOutput(descriptor: number, { onResumed }: TextOutputOptions = {}): TextOutput {
  const buffer = new LineBuffer(withoutBlocking(descriptor), onResumed);
  return {
    write: (line) => buffer.write(line),
    dropped: () => buffer.dropped,
    flushSync: () => buffer.flushSync(),
  };
}

/**
 * Uses synchronous writes to a non-blocking descriptor: an asynchronous write in the thread pool could be overtaken by
 * the final writes of a process that exits.
 */
class LineBuffer {
  private readonly target: number;
  private readonly onResumed: TextOutputOptions['onResumed'];
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  /** True if the last written line is incomplete. */
  private isTorn = false;
  /** True if the buffer continues exactly what was written last. */
  private isContinued = false;
  private retry: NodeJS.Timeout | undefined;
  private retryMs = FIRST_RETRY_MS;
  dropped = 0;
  private unreported = 0;
  private cause = '';

  constructor(target: number, onResumed: TextOutputOptions['onResumed']) {
    this.target = target;
    this.onResumed = onResumed;
  }

  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.waitingBytes + bytes.length > MAX_WAITING_BYTES) return this.drop(1, 'EAGAIN');
    this.append(bytes);
    if (this.retry === undefined) this.advance();
  }

  flushSync(): void {
    writeWhatFits(this.target, this.takeWaiting());
  }

  private append(bytes: Buffer): void {
    this.waiting.push(bytes);
    this.waitingBytes += bytes.length;
  }

  private drop(lines: number, cause: string): void {
    this.dropped += lines;
    this.unreported += lines;
    this.cause = cause;
  }

  private needsLineEnd(): boolean {
    return this.isTorn && !this.isContinued;
  }

  private takeWaiting(): Buffer {
    const bytes = Buffer.concat([...(this.needsLineEnd() ? [Buffer.of(LINE_FEED)] : []), ...this.waiting]);
    [this.waiting, this.waitingBytes, this.isContinued] = [[], 0, false];
    return bytes;
  }

  private advance(): void {
    this.retry = undefined;
    if (this.waiting.length === 0) return;
    const lineEndBytes = this.needsLineEnd() ? 1 : 0;
    const bytes = this.takeWaiting();
    const { written, error } = writeWhatFits(this.target, bytes);
    if (written > 0) {
      this.isTorn = bytes[written - 1] !== LINE_FEED;
      this.retryMs = FIRST_RETRY_MS;
    }
    if (error === 'EAGAIN') {
      this.append(bytes.subarray(written));
      this.isContinued = true;
      this.retry = setTimeout(() => this.advance(), this.retryMs).unref();
      this.retryMs = Math.min(this.retryMs * 2, LONGEST_RETRY_MS);
    } else if (error === undefined) this.report();
    else this.drop(countLines(bytes.subarray(Math.max(written, lineEndBytes))), error);
  }

  private report(): void {
    if (this.unreported === 0) return;
    const lines = { dropped: this.unreported, cause: this.cause };
    this.unreported = 0;
    this.onResumed?.(lines);
  }
}

/**
 * Returns a non-blocking descriptor for the same file, whose writes fail with EAGAIN; for a regular file, and a
 * terminal that cannot be reopened, the given one.
 */
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

/** Writes until the descriptor accepts no more. `error`: system error code if not everything was written. */
function writeWhatFits(descriptor: number, bytes: Buffer): { readonly written: number; readonly error?: string } {
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(descriptor, bytes, written);
    return { written };
  } catch (error) {
    return { written, error: (error as NodeJS.ErrnoException).code ?? String(error) };
  }
}
