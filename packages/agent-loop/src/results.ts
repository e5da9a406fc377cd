import type { EntryKind, ScreenshotReport } from '@vantage/contract';
import type { Logger } from 'pino';

import { createHint } from './hint.ts';
import { createOutbox, type Entry } from './outbox.ts';

/** Writes results; each call rejects at once while Redis is unavailable. */
export interface ResultWriter {
  readonly isReady: () => boolean;
  /** Appends one entry to the probe's result stream. */
  readonly append: (check: string, kind: EntryKind, data: string, png?: Uint8Array) => Promise<unknown>;
  /**
   * Announces a new stream entry. May be lost: coordinators also poll.
   *
   * @param final the one new final result, included in the notification
   */
  readonly hint: (final?: Pick<Entry, 'check' | 'data'>) => Promise<unknown>;
}

/** Receives the results of a job. */
export interface ResultOutlet {
  /** Replaces an older partial result of the check that is not sent yet. */
  readonly partial: (check: string, data: string, deadlineAt: number) => void;
  /** Resolves when Redis has it, or when it was dropped as too late. Never rejects. */
  readonly final: (check: string, data: string, deadlineAt: number) => Promise<void>;
  /** The screenshot of a check, or why there is none. Like `final`. */
  readonly screenshot: (check: string, picture: ReportedPicture, deadlineAt: number) => Promise<void>;
}

export interface ReportedPicture extends ScreenshotReport {
  readonly png: Uint8Array | null;
}

export interface Results extends ResultOutlet {
  /** Call when the connection is up again. */
  readonly resume: () => void;
  /** Resolves when nothing is left to send, or when the signal aborts. */
  readonly flush: (signal: AbortSignal) => Promise<void>;
  readonly close: () => void;
}

export interface ResultsOptions {
  readonly writer: ResultWriter;
  /** The clock of Redis, milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Logger;
  readonly maxBytes?: number;
}

/** Results in flight: enough to use a slow connection, few enough to send again. */
const WINDOW = 64;
const RETRY_MS = 500;
/** An outage may last for hours. */
const REPORT_EVERY_MS = 60_000;
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Writes results in order, each at least once, and keeps them during an outage until their deadline. A result leaves
 * the buffer only when Redis has answered.
 */
export function createResults({ writer, now, log, maxBytes = MAX_BYTES }: ResultsOptions): Results {
  const outbox = createOutbox({
    maxBytes,
    onDropped: ({ check, kind }, reason) => {
      if (kind !== 'partial') log.warn({ check, reason }, 'result dropped');
    },
  });
  const hint = createHint<Entry>((final) => void writer.hint(final).catch(() => undefined));
  const idle = new Set<() => void>();
  let retry: NodeJS.Timeout | undefined;
  let closed = false;
  /** Since the last report. */
  let rejections = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;

  const pump = (): void => {
    outbox.expire(now());
    if (outbox.size() === 0) for (const done of idle) done();
    if (closed || retry !== undefined || !writer.isReady()) return;
    const entries = outbox.take(WINDOW);
    for (const entry of entries) {
      writer.append(entry.check, entry.kind, entry.data, entry.png).then(
        () => {
          outbox.confirm(entry);
          pump();
        },
        (error: unknown) => failed(entry, error),
      );
    }
    // After the entries on the same connection, so that the reader of the notification finds them.
    const [first] = entries;
    if (first !== undefined) hint.raise(entries.length === 1 && first.kind === 'final' ? first : undefined);
  };

  const reportRejection = (error: unknown): void => {
    rejections += 1;
    if (performance.now() - reportedAt < REPORT_EVERY_MS) return;
    const cause = Error.isError(error) ? error.message : 'unknown';
    log.warn({ cause, rejections }, 'Redis rejected results; retrying');
    reportedAt = performance.now();
    rejections = 0;
  };

  const failed = (entry: Entry, error: unknown): void => {
    // Later entries may have been written already: order holds for the entries that are sent again, and a second copy
    // is a no-op.
    outbox.putBack(entry);
    if (!writer.isReady() || retry !== undefined) return;
    reportRejection(error);
    retry = setTimeout(() => {
      retry = undefined;
      pump();
    }, RETRY_MS);
  };

  return {
    partial: (check, data, deadlineAt) => {
      void outbox.add({ check, kind: 'partial', data, deadlineAt });
      pump();
    },
    final: (check, data, deadlineAt) => {
      const written = outbox.add({ check, kind: 'final', data, deadlineAt });
      pump();
      return written;
    },
    screenshot: (check, { png, failure, cutAt }, deadlineAt) => {
      const data = JSON.stringify({ failure, ...(cutAt && { cutAt }) } satisfies ScreenshotReport);
      const written = outbox.add({ check, kind: 'screenshot', data, png: png ?? undefined, deadlineAt });
      pump();
      return written;
    },
    resume: pump,
    flush: (signal) =>
      new Promise((resolve) => {
        const done = (): void => {
          idle.delete(done);
          signal.removeEventListener('abort', done);
          // A hint that waits for its gap would be lost with the connection.
          hint.flush();
          resolve();
        };
        idle.add(done);
        signal.addEventListener('abort', done);
        if (signal.aborted) done();
        else pump();
      }),
    close: () => {
      closed = true;
      clearTimeout(retry);
      hint.close();
    },
  };
}
