import type { Logger } from 'pino';

const SHORTEST_BACKOFF_MS = 250;
const LONGEST_BACKOFF_MS = 5_000;

/** How long to wait after the attempt of that number, from 0. */
export function backoffMs(attempt: number): number {
  return Math.min(SHORTEST_BACKOFF_MS * 2 ** attempt, LONGEST_BACKOFF_MS);
}

/** The connection was closed by us: nothing more comes. */
export function isClosed(error: unknown): boolean {
  return Error.isError(error) && error.message === 'Connection is closed.';
}

/** The code of a reply that is an error, such as `NOPERM`; undefined for what is no reply. */
export function refusalOf(error: unknown): string | undefined {
  return Error.isError(error) ? /^[A-Z]{3,} /.exec(error.message)?.[0].trim() : undefined;
}

/** At its beginning, and about once a minute while it lasts. */
export function logRefusal(log: Pick<Logger, 'error'>, error: unknown, attempt: number): void {
  if (attempt % 12 === 0) log.error({ err: error, attempt }, 'Redis rejected queue commands; retrying');
}
