import { redisKeys, type Failure } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { KnownProbe } from '../../probes/registry/probe-status.ts';
import type { RedisClock } from '../../redis/clock.ts';
import { onStore } from '../../redis/store.ts';
import { screenshotMember } from '../store/records/new-check.ts';
import { dispatchFailure } from '../store/synthetic-results.ts';
import type { ScreenshotProbes } from './screenshot-probes.ts';

/** Entries of the watch that were not removed are kept for this long after the deadline. */
const ENTRIES_KEPT_MS = 60_000;

/** Delay after the deadline before the watch ends a screenshot that expiry has not ended. */
const LEFT_OVER_AFTER_MS = 1_000;

/**
 * After a gap this long between two polls, heartbeats may have expired while Redis was unavailable: for
 * `SETTLED_AFTER_MS` the watch then neither hands over nor ends a screenshot.
 */
const BLIND_AFTER_MS = 10_000;
/** Time after an outage in which agents reconnect and send a heartbeat. */
const SETTLED_AFTER_MS = 4_000;

export interface ScreenshotWatchDependencies {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly known: () => Promise<readonly KnownProbe[]>;
  readonly probes: Pick<ScreenshotProbes, 'count'>;
  readonly passOn: (id: string, from: string, reason: Failure) => Promise<void>;
  readonly end: (id: string) => Promise<void>;
  /** Monotonic clock, milliseconds. */
  readonly nowMs: () => number;
}

/**
 * @returns a function that hands over the screenshots of probes that went offline, and ends those whose deadline has
 *   passed
 */
export function createScreenshotWatch(dependencies: ScreenshotWatchDependencies): () => Promise<void> {
  const { redis, clock, nowMs } = dependencies;
  let polledAt = Number.NEGATIVE_INFINITY;
  let settledAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const known = await dependencies.known();
    const { now, pending } = await onStore(redis, () => readPending(redis, clock));
    dependencies.probes.count(pending.map(({ probe }) => probe));
    if (nowMs() - polledAt > BLIND_AFTER_MS) settledAt = nowMs() + SETTLED_AFTER_MS;
    polledAt = nowMs();
    if (polledAt < settledAt || pending.length === 0) return;
    const alive = new Set(known.filter((probe) => probe.alive).map(({ record }) => record.id));
    await Promise.all(
      pending.map(async ({ id, probe, deadlineAt }) => {
        if (deadlineAt < now - LEFT_OVER_AFTER_MS) {
          await dependencies.end(id);
          await stopWatching(redis, id, probe);
        } else if (!alive.has(probe)) await dependencies.passOn(id, probe, wentOffline);
      }),
    );
  };
}

/** Stops watching this probe for this check. Never rejects: the watch removes an entry that is left. */
export async function stopWatching(redis: Redis, id: string, probe: string): Promise<void> {
  await redis.zrem(redisKeys.screenshots, screenshotMember(id, probe)).catch(() => undefined);
}

interface PendingScreenshot {
  /** Id of the check. */
  readonly id: string;
  readonly probe: string;
  readonly deadlineAt: number;
}

async function readPending(
  redis: Redis,
  clock: RedisClock,
): Promise<{ readonly now: number; readonly pending: readonly PendingScreenshot[] }> {
  const now = await clock.now(redis);
  const [, flat] = await Promise.all([
    redis.zremrangebyscore(redisKeys.screenshots, '-inf', String(now - ENTRIES_KEPT_MS)),
    redis.zrangebyscore(redisKeys.screenshots, '-inf', '+inf', 'WITHSCORES'),
  ]);
  // Member, deadline, member …
  const pending = flat.flatMap((text, index) => {
    if (index % 2 === 1) return [];
    const [id = '', probe = ''] = text.split(' ', 2);
    return [{ id, probe, deadlineAt: Number(flat[index + 1]) }];
  });
  return { now, pending };
}

const wentOffline: Failure = {
  ...dispatchFailure('probe_interrupted', 'The probe went offline while it was to take the screenshot.'),
  phase: 'exec',
};
