import type { Redis } from 'ioredis';

import type { Log } from '../../redis/log.ts';
import { switchOff } from './switch-off.ts';

/** Suspends a probe whose agent exceeds the rate of a rule. */
export interface ExcessWatch {
  /** Counts an occurrence, such as an oversized write, for the agent of this probe. Never throws. */
  readonly note: (probe: string) => void;
}

export interface ExcessRule {
  /** Allowed occurrences within `withinMs`, by default ten seconds. */
  readonly most: number;
  readonly withinMs?: number;
  /** The reason in `GET /probes`. */
  readonly reason: string;
  /** Message of the log line. */
  readonly message: string;
}

export const tooManyConnections: Pick<ExcessRule, 'reason' | 'message'> = {
  reason: 'its agent opened far more connections to Redis than an agent needs.',
  message: 'connection quota exceeded: Redis user suspended',
};

/**
 * Rule for values far larger than those of an agent, which delay all clients of Redis. A defect may write a few; an
 * attack writes many.
 */
export const oversizedWrites: ExcessRule = {
  most: 5,
  reason: 'its agent sent requests or values far larger than an agent sends.',
  message: 'oversized writes: Redis user suspended',
};

/**
 * Rule for oversized heartbeats. A refresh that reads one makes the next refresh read that probe again, so one that
 * stays is counted more than once within `withinMs`.
 */
export const oversizedHeartbeats: ExcessRule = { ...oversizedWrites, most: 1, withinMs: 30_000 };

/**
 * Rule for floods of notifications: every coordinator receives each notification, so a flood stalls all. The limit is
 * high because, after a stall, the notifications of minutes may arrive together.
 */
export const notificationFlood: ExcessRule = {
  most: 20_000,
  reason: 'its agent sent far more notifications than an agent sends.',
  message: 'notification flood: Redis user suspended',
};

const WITHIN_MS = 10_000;

export function createExcessWatch(redis: Redis, log: Log, rule: ExcessRule): ExcessWatch {
  const { most, withinMs = WITHIN_MS, reason, message } = rule;
  const counts = new Map<string, { count: number; sinceMs: number }>();

  const suspend = async (probe: string): Promise<void> => {
    const isOff = await switchOff(redis, probe, reason);
    log.error({ probe, isOff }, message);
  };

  return {
    note: (probe) => {
      const nowMs = performance.now();
      const known = counts.get(probe);
      const entry = known === undefined || nowMs - known.sinceMs > withinMs ? { count: 0, sinceMs: nowMs } : known;
      counts.set(probe, entry);
      entry.count += 1;
      if (entry.count !== most + 1) return;
      suspend(probe).catch((error: unknown) => {
        log.warn({ probe, error }, 'Redis user could not be suspended');
        // Further occurrences are counted from 0, and cause the next attempt.
        counts.delete(probe);
      });
    },
  };
}
