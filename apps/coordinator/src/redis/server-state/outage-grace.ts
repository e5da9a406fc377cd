import { stallTolerantTimeout } from '@vantage/timers';
import type { Redis } from 'ioredis';

/** Time for agents to reconnect and write results that they kept. */
const GRACE_MS = 900;

/** Minimum interval between grace periods: an unstable connection must not postpone deadlines indefinitely. */
const AT_MOST_EVERY_MS = 10_000;

/**
 * Returns a function: true for a grace period after a lost connection to Redis is ready again, unless one began within
 * `AT_MOST_EVERY_MS`. In this period no deadline is enforced and no result is late.
 */
export function createOutageGrace(connection: Redis): () => boolean {
  let lost = false;
  let isGranted = false;
  let grantedAt = Number.NEGATIVE_INFINITY;
  connection.on('ready', () => {
    if (lost && performance.now() - grantedAt > AT_MOST_EVERY_MS) {
      grantedAt = performance.now();
      isGranted = true;
      // Does not count a stall of this machine, which agents on it share.
      stallTolerantTimeout(
        GRACE_MS,
        () => (isGranted = false),
        (timer) => timer.unref(),
      );
    }
    lost = false;
  });
  connection.on('close', () => {
    lost = true;
  });
  return () => isGranted;
}
