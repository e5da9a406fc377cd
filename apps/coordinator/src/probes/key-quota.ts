import { redisKeys } from '@vantage/contract';
import { mastersOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import type { Log } from '../redis/log.ts';
import { defineScript, runScript } from '../redis/scripts.ts';
import { createConnectionQuota } from './access/connection-quota.ts';
import { oversizedWrites, tooManyConnections, type ExcessRule } from './access/excess-watch.ts';
import { measureProbeKeys, removeProbeKeys } from './registry/probe-keys.ts';
import { createSlowRequests } from './access/slow-requests.ts';
import { switchOff, switchOffUser } from './access/switch-off.ts';

/** Interval at which the key quota is enforced; coordinators take turns. */
export const QUOTA_EVERY_MS = 1_000;
/** Lifetime of the lock: for this long after one coordinator has begun to enforce the quota, no other begins. */
const turnMs = (everyMs: number): number => Math.round(0.9 * everyMs);

/**
 * All keys are measured at this interval, and when the memory of Redis has grown by half of the quota of a probe.
 * Nothing is measured while Redis uses less memory than the quota of one probe.
 */
const MEASURE_EVERY_MS = 60_000;

/**
 * Begins a turn of enforcement unless one is in progress. `allow-oom`, because a flood may have used up the memory.
 * KEYS lock. ARGV its lifetime (ms). Returns 1 if the turn has begun, 0 while an earlier one lasts, of any coordinator.
 */
const turnScript = defineScript(
  'allow-oom',
  `
if redis.call('SET', KEYS[1], '1', 'PX', ARGV[1], 'NX') then return 1 end
-- After a step back of the clock the lock would be held for as long as the step.
if redis.call('PTTL', KEYS[1]) <= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
return 1
`,
);

export interface KeyQuotaDependencies {
  readonly redis: Redis;
  /** Maximum bytes of one probe's keys. */
  readonly limitBytes: number;
  /** Interval at which the quota is enforced; default `QUOTA_EVERY_MS`. */
  readonly everyMs?: number | undefined;
  readonly log: Log;
}

/**
 * Suspends agents whose keys exceed `limitBytes`, that open too many connections, or that send requests that hold up
 * Redis; an ACL prevents none of it. The Redis user is disabled and the probe gets no jobs until the operator enables
 * it again.
 */
export function createKeyQuota({ redis, limitBytes, everyMs = QUOTA_EVERY_MS, log }: KeyQuotaDependencies): {
  /**
   * Checks once.
   *
   * @returns false if another coordinator holds the lock
   * @throws if Redis does not reply
   */
  readonly poll: () => Promise<boolean>;
} {
  let measuredAt = Number.NEGATIVE_INFINITY;
  let usedThen = 0;

  const connections = createConnectionQuota(redis);
  const slowRequests = createSlowRequests(redis, log);

  const endFlood = async (probe: string, bytes: number): Promise<void> => {
    const [has, most] = [bytes, limitBytes].map((value) => `${Math.max(1, Math.round(value / 1_048_576))} MiB`);
    const isOff = await switchOff(
      redis,
      probe,
      `its agent filled its keys with ${has} and more, where ${most} are allowed.`,
    );
    log.error({ probe, bytes, limitBytes, isOff }, 'key quota exceeded: Redis user suspended');
    await removeProbeKeys(mastersOf(redis), probe);
  };

  return {
    poll: async () => {
      if ((await runScript(redis, turnScript, [redisKeys.keyQuotaLock], [turnMs(everyMs)])) !== 1) return false;
      const [{ tooMany, tooLarge, users }, used] = await Promise.all([
        connections.enforce(),
        usedMemory(redis),
        switchOffSuspended(redis),
      ]);
      for (const probe of tooMany) await suspend(redis, log, probe, tooManyConnections);
      for (const probe of tooLarge) await suspend(redis, log, probe, oversizedWrites);
      // Not concurrent with the list of connections: if that list exceeds the output buffer limit, Redis closes the
      // connection, and this reply would be lost each time.
      for (const probe of await slowRequests.poll(users)) {
        await suspend(redis, log, probe, oversizedWrites);
        slowRequests.forget(probe);
      }

      // No probe can have more than all of Redis.
      if (used <= limitBytes) return true;
      const isDue = performance.now() - measuredAt > MEASURE_EVERY_MS || used - usedThen > limitBytes / 2;
      if (!isDue) return true;
      measuredAt = performance.now();
      usedThen = used;
      const bytes = await measureProbeKeys(redis, limitBytes);
      for (const [probe, has] of bytes) if (has > limitBytes) await endFlood(probe, has);
      // Memory freed by the removal must not hide the next flood.
      if ([...bytes.values()].some((has) => has > limitBytes)) usedThen = await usedMemory(redis);
      return true;
    },
  };
}

async function suspend(
  redis: Redis,
  log: Log,
  probe: string,
  { reason, message }: Pick<ExcessRule, 'reason' | 'message'>,
): Promise<void> {
  const isOff = await switchOff(redis, probe, reason);
  log.error({ probe, isOff }, message);
}

/** Disables the users of all suspended probes again: a replica that became a master may have missed the change. */
async function switchOffSuspended(redis: Redis): Promise<void> {
  const off = await redis.hkeys(redisKeys.suspended);
  await Promise.all(off.map((probe) => switchOffUser(redis, probe)));
}

async function usedMemory(redis: Redis): Promise<number> {
  const infos = await Promise.all(mastersOf(redis).map((master) => master.info('memory')));
  return infos.reduce((sum, info) => sum + Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? 0), 0);
}
