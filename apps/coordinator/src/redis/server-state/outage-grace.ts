import { stallTolerantTimeout } from '@vantage/timers';
import type { Redis } from 'ioredis';

/**
 * Time for agents to reconnect and write what they kept back. With the coordinator's own reconnection before it and a sweep
 * after it, it stays below the two seconds in which a check has to be completed.
 */
const GRACE_MS = 900;

/** A connection that comes and goes all the time must not put deadlines off for ever. */
const AT_MOST_EVERY_MS = 10_000;

/**
 * Tells whether the store has just come back. Time in which Redis takes no writes does not count for a deadline: for a
 * moment after it, no deadline is enforced and no result is late.
 */
export function createOutageGrace(connection: Redis): () => boolean {
  let lost = false;
  let isGranted = false;
  let grantedAt = Number.NEGATIVE_INFINITY;
  connection.on('ready', () => {
    if (lost && performance.now() - grantedAt > AT_MOST_EVERY_MS) {
      grantedAt = performance.now();
      isGranted = true;
      // Where all of the machine stands still meanwhile, so do the agents.
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
