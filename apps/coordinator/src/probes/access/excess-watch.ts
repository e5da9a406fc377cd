import type { Redis } from 'ioredis';

import type { Log } from '../../redis/log.ts';
import { switchOff } from './switch-off.ts';

/** Suspends the Redis user of an agent that does more of one thing than any release of the agent does. */
export interface ExcessWatch {
  /** Takes one occurrence. Never throws. */
  readonly note: (probe: string) => void;
}

export interface ExcessRule {
  /** Occurrences within ten seconds that are allowed. */
  readonly most: number;
  /** What `GET /probes` shows. */
  readonly reason: string;
  /** Message of the log line. */
  readonly message: string;
}

/** Values of megabytes stop Redis for everybody. A defect may make one now and then; an attack makes hundreds a second. */
export const oversizedWrites: ExcessRule = {
  most: 5,
  reason: 'its agent wrote values far larger than an agent writes.',
  message: 'oversized writes: Redis user suspended',
};

/**
 * Every coordinator receives every notification, so a flood of them stalls all. An agent sends at most 200 a second, and
 * with many results 33; those of minutes may arrive together after a stall.
 */
export const notificationFlood: ExcessRule = {
  most: 20_000,
  reason: 'its agent sent far more notifications than an agent sends.',
  message: 'notification flood: Redis user suspended',
};

const WITHIN_MS = 10_000;

export function createExcessWatch(redis: Redis, log: Log, { most, reason, message }: ExcessRule): ExcessWatch {
  const counts = new Map<string, { count: number; sinceMs: number }>();

  const suspend = async (probe: string): Promise<void> => {
    const isOff = await switchOff(redis, probe, reason);
    log.error({ probe, isOff }, message);
  };

  return {
    note: (probe) => {
      const nowMs = performance.now();
      const known = counts.get(probe);
      const entry = known === undefined || nowMs - known.sinceMs > WITHIN_MS ? { count: 0, sinceMs: nowMs } : known;
      counts.set(probe, entry);
      entry.count += 1;
      if (entry.count !== most + 1) return;
      suspend(probe).catch((error: unknown) => {
        log.warn({ probe, error }, 'Redis user could not be suspended');
        // The next occurrences try again.
        counts.delete(probe);
      });
    },
  };
}
