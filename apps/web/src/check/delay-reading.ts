import { retryAfterMs } from '../faults.ts';

/** A delayed request for the results of a check, which is repeated until it succeeds once. */
interface DelayedReading {
  /** Sends the request, unless it was sent. */
  readonly now: () => void;
  /** Sends the request after the full delay from now, unless it was sent. */
  readonly later: () => void;
  /** Ends the delay, and repeats nothing after a failure. */
  readonly close: () => void;
}

/**
 * Delay of the request for the results. If the check is completed, its events usually arrive earlier, which makes the
 * request, with its inline screenshot, unnecessary.
 */
const READ_AFTER_MS = 500;
const READ_AGAIN_MS = 2000;

export function delayReading(read: () => Promise<void>): DelayedReading {
  let reading: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;
  const now = (): void => {
    // After a failure the timer is that of the next attempt, which events must not stop.
    if (reading !== undefined) return;
    clearTimeout(timer);
    reading = read().catch((error: unknown) => {
      if (isClosed) return;
      // Retry after a delay, not on every event.
      timer = setTimeout(
        () => {
          reading = undefined;
          now();
        },
        retryAfterMs(error, READ_AGAIN_MS),
      );
    });
  };
  return {
    now,
    later: () => {
      if (reading !== undefined) return;
      clearTimeout(timer);
      timer = setTimeout(now, READ_AFTER_MS);
    },
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
