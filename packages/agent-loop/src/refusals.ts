import { createBackoff } from '@vantage/timers';
import type { Logger } from 'pino';

/** Milliseconds to wait after a number of failures in a row, from 1; jitter prevents agents from retrying in step. */
export const backoffMs = createBackoff({ firstMs: 250, longestMs: 2_000, jitter: 0.5 });

/** True if this process closed the connection. */
export function isClosed(error: unknown): boolean {
  return Error.isError(error) && error.message === 'Connection is closed.';
}

/** The code of an error reply, such as `NOPERM`; undefined for other errors. */
export function refusalOf(error: unknown): string | undefined {
  return Error.isError(error) ? /^[A-Z]{3,} /.exec(error.message)?.[0].trim() : undefined;
}

/** Logs a refusal at its first attempt and every 40th one after it. */
export function logRefusal(log: Pick<Logger, 'error'>, error: unknown, attempt: number): void {
  if (attempt % 40 === 0) log.error({ err: error, attempt }, 'Redis rejected queue commands; retrying');
}
