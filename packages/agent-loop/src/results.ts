import { MAX_RESULT_BYTES, type EntryKind, type ScreenshotReport } from '@vantage/contract';
import type { Logger } from 'pino';

import { createNotifier, type Notifier } from './notifier.ts';
import { createOutbox, type Entry, type Outbox } from './outbox.ts';
import { failureResult, probeFailure } from './probe-failure.ts';

/** The connection was lost before an entry was confirmed: the entry is sent again on the next connection. */
export class ConnectionLost extends Error {}

/** Writes results; each write rejects at once while Redis, or the gateway, is unavailable. */
export interface ResultWriter {
  readonly isReady: () => boolean;
  /** Appends one entry to the probe's result stream. */
  readonly append: (check: string, kind: EntryKind, data: string, png?: Uint8Array) => Promise<unknown>;
  /**
   * Announces a new stream entry. May be lost: coordinators also poll.
   *
   * @param final the one new final result, included in the notification
   */
  readonly notify: (final?: Pick<Entry, 'check' | 'data'>) => Promise<unknown>;
}

/** Receives the results of a job. */
export interface ResultOutlet {
  /** Queues a partial result in place of an older one of the check; ignores one above `MAX_RESULT_BYTES`. */
  readonly partial: (check: string, data: string, deadlineAt: number) => void;
  /** Resolves when the result is confirmed, by Redis or the gateway, or dropped. Never rejects. */
  readonly final: (check: string, data: string, deadlineAt: number) => Promise<void>;
  /** Like `final`, for the screenshot of a check, or the failure to take it. */
  readonly screenshot: (check: string, screenshot: ReportedScreenshot, deadlineAt: number) => Promise<void>;
}

export interface ReportedScreenshot extends ScreenshotReport {
  readonly png: Uint8Array | null;
}

export interface Results extends ResultOutlet {
  /** To be called when the connection is up again. */
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

/** Limit of results in flight: enough to fill a slow connection, few enough to be sent again. */
const WINDOW = 64;
const RETRY_MS = 500;
/** Interval of log lines during an outage, which may last for hours. */
const REPORT_EVERY_MS = 60_000;
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Writes results, and keeps them during an outage, as far as `maxBytes` allows, until their check is certainly over
 * (`USELESS_AFTER_MS`). A result leaves the buffer when it is confirmed or dropped, a partial one also when a newer one
 * of its check replaces it.
 */
export function createResults(options: ResultsOptions): Results {
  return new BufferedResults(options);
}

class BufferedResults implements Results {
  private readonly options: ResultsOptions;
  private readonly outbox: Outbox;
  private readonly notifier: Notifier<Entry>;
  /** Called when nothing is left to send. */
  private readonly idle = new Set<() => void>();
  private retry: NodeJS.Timeout | undefined;
  private isClosed = false;
  /** Rejections since the last log line. */
  private rejections = 0;
  private reportedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ResultsOptions) {
    const { writer, log, maxBytes = MAX_BYTES } = options;
    this.options = options;
    this.outbox = createOutbox({
      maxBytes,
      onDropped: ({ check, kind }, reason) => {
        if (kind !== 'partial') log.warn({ check, reason }, 'result dropped');
      },
    });
    this.notifier = createNotifier<Entry>((final) => void writer.notify(final).catch(() => undefined));
  }

  readonly partial = (check: string, data: string, deadlineAt: number): void => {
    if (!isTooLarge(data)) void this.add({ check, kind: 'partial', data, deadlineAt });
  };

  /** A result above the limit is replaced: a gateway would close the connection each time that it is sent. */
  readonly final = (check: string, data: string, deadlineAt: number): Promise<void> => {
    const { now, log } = this.options;
    if (!isTooLarge(data)) return this.add({ check, kind: 'final', data, deadlineAt });
    log.error(
      { check, bytes: Buffer.byteLength(data), limit: MAX_RESULT_BYTES },
      'result too large: replaced by an error',
    );
    const replacement = failureResult(probeFailure('invalid_result'), null, new Date(now()).toISOString());
    return this.add({ check, kind: 'final', data: replacement, deadlineAt });
  };

  readonly screenshot = (check: string, screenshot: ReportedScreenshot, deadlineAt: number): Promise<void> => {
    const { png, failure, cutAt } = screenshot;
    const data = JSON.stringify({ failure, ...(cutAt && { cutAt }) } satisfies ScreenshotReport);
    return this.add({ check, kind: 'screenshot', data, png: png ?? undefined, deadlineAt });
  };

  readonly resume = (): void => this.pump();

  readonly flush = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        this.idle.delete(done);
        signal.removeEventListener('abort', done);
        // A delayed notification would be lost with the connection.
        this.notifier.flush();
        resolve();
      };
      this.idle.add(done);
      signal.addEventListener('abort', done);
      if (signal.aborted) done();
      else this.pump();
    });

  readonly close = (): void => {
    this.isClosed = true;
    clearTimeout(this.retry);
    this.notifier.close();
  };

  private add(entry: Entry): Promise<void> {
    const written = this.outbox.add(entry);
    this.pump();
    return written;
  }

  /** Sends as many entries as may be in flight. */
  private pump(): void {
    const { writer, now } = this.options;
    this.outbox.expire(now());
    if (this.outbox.size() === 0) for (const done of this.idle) done();
    if (this.isClosed || this.retry !== undefined || !writer.isReady()) return;
    const entries = this.outbox.take(WINDOW);
    for (const entry of entries) this.send(entry);
    // After the entries on the same connection, so that the reader of the notification finds them.
    const [first] = entries;
    if (first !== undefined) this.notifier.raise(entries.length === 1 && first.kind === 'final' ? first : undefined);
  }

  private send(entry: Entry): void {
    this.options.writer.append(entry.check, entry.kind, entry.data, entry.png).then(
      () => {
        this.outbox.confirm(entry);
        this.pump();
      },
      (error: unknown) => this.failed(entry, error),
    );
  }

  private failed(entry: Entry, error: unknown): void {
    // Later entries may have been written already, so only the entries that are sent again are in order. A second copy
    // of an entry has no effect.
    this.outbox.putBack(entry);
    if (error instanceof ConnectionLost) return this.pump();
    if (!this.options.writer.isReady() || this.retry !== undefined) return;
    this.reportRejection(error);
    this.retry = setTimeout(() => {
      this.retry = undefined;
      this.pump();
    }, RETRY_MS);
  }

  private reportRejection(error: unknown): void {
    this.rejections += 1;
    if (performance.now() - this.reportedAt < REPORT_EVERY_MS) return;
    const cause = Error.isError(error) ? error.message : 'unknown';
    this.options.log.warn({ cause, rejections: this.rejections }, 'Redis rejected results; retrying');
    this.reportedAt = performance.now();
    this.rejections = 0;
  }
}

function isTooLarge(data: string): boolean {
  return Buffer.byteLength(data) > MAX_RESULT_BYTES;
}
