import { ProblemError } from './problem-error.ts';

/** Sum of the pauses between failed attempts after which the last failure rejects. */
export const GIVE_UP_AFTER_MS = 60_000;
const SHORTEST_RETRY_MS = 125;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5_000;
/** Upper bound of a server's `retry`; a timer takes at most 2^31 - 1 ms. */
const LONGEST_ASKED_MS = 30_000;

/**
 * True for a refusal of the service after which a retry cannot succeed: each status below 500, except 408 (timeout), 425
 * (too early) and 429 (rate limit). A response without a problem document is none of the service: proxies answer 404 or
 * 403 while the service restarts.
 */
export function isFinalRefusal(error: unknown): error is ProblemError {
  return (
    error instanceof ProblemError &&
    error.problem !== undefined &&
    error.status < 500 &&
    ![408, 425, 429].includes(error.status)
  );
}

/**
 * The delay before the next attempt.
 *
 * @param failure undefined after an orderly end
 * @param failures failures in succession before this one
 * @param retryMs the last `retry` of the service
 */
export function waitMs(failure: unknown, failures: number, retryMs?: number): number {
  if (failure instanceof ProblemError && failure.retryAfterSeconds !== undefined) {
    return Math.max(failure.retryAfterSeconds * 1_000, SHORTEST_RETRY_MS);
  }
  // An orderly end, as when a coordinator stops: the service has sent the delay in `retry`.
  if (failure === undefined && failures === 0 && retryMs !== undefined) {
    return Math.min(Math.max(retryMs, SHORTEST_RETRY_MS), LONGEST_ASKED_MS);
  }
  const longest = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures, 10), LONGEST_RETRY_MS);
  return longest * (0.5 + Math.random() / 2);
}

export async function delay(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  let onAbort: () => void = () => undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  // Not `withResolvers`: the npm package supports Node 20.
  await new Promise<void>((resolve) => {
    onAbort = resolve;
    timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
  clearTimeout(timer);
  signal?.removeEventListener('abort', onAbort);
}

/**
 * Repeats a request until it succeeds. Each call counts its waits separately.
 *
 * @throws a final refusal at once, the last failure after `GIVE_UP_AFTER_MS` of waiting, the signal's reason
 */
export async function retried<T>(send: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  let waitedMs = 0;
  for (let failures = 0; ; failures += 1) {
    signal?.throwIfAborted();
    try {
      return await send();
    } catch (error) {
      signal?.throwIfAborted();
      if (waitedMs >= GIVE_UP_AFTER_MS || isFinalRefusal(error)) throw error;
      const nextMs = Math.min(waitMs(error, failures), GIVE_UP_AFTER_MS - waitedMs);
      waitedMs += nextMs;
      await delay(nextMs, signal);
    }
  }
}
