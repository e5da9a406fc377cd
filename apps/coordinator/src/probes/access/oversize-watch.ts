import type { Redis } from 'ioredis';

import type { Log } from '../../redis/log.ts';
import { switchOff } from './switch-off.ts';

/** Notices agents that write what no release of the agent writes: values of megabytes stop Redis for everybody. */
export interface OversizeWatch {
  /** Takes one write beyond its limit. Never throws. */
  readonly note: (probe: string) => void;
}

/** A defect may make a large value now and then; an attack makes hundreds a second. */
const MOST = 5;
const WITHIN_MS = 10_000;

/** Suspends the Redis user of an agent that wrote more than five oversized values in ten seconds. */
export function createOversizeWatch(redis: Redis, log: Log): OversizeWatch {
  const counts = new Map<string, { count: number; sinceMs: number }>();

  const suspend = async (probe: string): Promise<void> => {
    const isOff = await switchOff(redis, probe, 'its agent wrote values far larger than an agent writes.');
    log.error({ probe, isOff }, 'oversized writes: Redis user suspended');
  };

  return {
    note: (probe) => {
      const nowMs = performance.now();
      const known = counts.get(probe);
      const entry = known === undefined || nowMs - known.sinceMs > WITHIN_MS ? { count: 0, sinceMs: nowMs } : known;
      counts.set(probe, entry);
      entry.count += 1;
      if (entry.count !== MOST + 1) return;
      suspend(probe).catch((error: unknown) => {
        log.warn({ probe, error }, 'Redis user could not be suspended');
        // The next oversized write tries again.
        counts.delete(probe);
      });
    },
  };
}
