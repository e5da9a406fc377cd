import { agentUser, redisKeys } from '@vantage/contract';
import { mastersOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import type { Log } from '../redis/log.ts';
import { defineScript, runScript } from '../redis/scripts.ts';
import { readUser } from './agent-users.ts';
import { measureProbeKeys, removeProbeKeys } from './probe-keys.ts';

/** One coordinator looks at a time. */
const TURN_MS = 4_000;

/** All keys are measured this often, and as soon as Redis has grown by half of what one probe may have. */
const MEASURE_EVERY_MS = 60_000;

// A flood may have left no memory for commands that write.
const turnScript = defineScript('allow-oom', "return redis.call('SET', KEYS[1], '1', 'PX', ARGV[1], 'NX') and 1 or 0");
const noteScript = defineScript('allow-oom', "return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])");

export interface FloodGuardDependencies {
  readonly redis: Redis;
  /** Bytes that the keys of one probe may take. */
  readonly limitBytes: number;
  readonly log: Log;
}

/**
 * What an ACL cannot stop is an agent that fills its own keys until Redis has no memory. Whoever does is switched off: its
 * Redis user, and all work for its probe, until the operator switches it on again.
 */
export function createFloodGuard({ redis, limitBytes, log }: FloodGuardDependencies): {
  /**
   * Looks once.
   *
   * @returns false where it is another coordinator's turn
   * @throws where Redis does not answer
   */
  readonly look: () => Promise<boolean>;
} {
  let measuredAt = Number.NEGATIVE_INFINITY;
  let usedThen = 0;

  const switchOff = async (probe: string, bytes: number): Promise<void> => {
    const [has, most] = [bytes, limitBytes].map((value) => `${Math.max(1, Math.round(value / 1_048_576))} MiB`);
    const reason = `Switched off: its agent filled its keys with ${has} and more, where ${most} are allowed.`;
    // Noted first: whatever fails afterwards is done by the next look.
    await runScript(redis, noteScript, [redisKeys.switchedOff], [probe, reason]);
    const isOff = await switchOffUser(redis, probe);
    log.error({ probe, bytes, limitBytes, isOff }, 'an agent flooded its keys and is switched off');
    await removeProbeKeys(mastersOf(redis), probe);
  };

  return {
    look: async () => {
      if ((await runScript(redis, turnScript, [redisKeys.floodGuard], [TURN_MS])) !== 1) return false;
      const off = await redis.hkeys(redisKeys.switchedOff);
      // A replica that became a master may know the user as it was.
      await Promise.all(off.map((probe) => switchOffUser(redis, probe)));

      const used = await usedMemory(redis);
      const isDue = performance.now() - measuredAt > MEASURE_EVERY_MS || used - usedThen > limitBytes / 2;
      if (!isDue) return true;
      measuredAt = performance.now();
      usedThen = used;
      const bytes = await measureProbeKeys(redis, limitBytes);
      for (const [probe, has] of bytes) if (has > limitBytes) await switchOff(probe, has);
      // What was removed must not hide the next flood.
      if ([...bytes.values()].some((has) => has > limitBytes)) usedThen = await usedMemory(redis);
      return true;
    },
  };
}

/** @returns false where there is no such user, or where the coordinator's own may not do it */
async function switchOffUser(redis: Redis, probe: string): Promise<boolean> {
  const user = agentUser(probe);
  const outcomes = await Promise.all(
    mastersOf(redis).map(async (master) => {
      try {
        const known = await readUser(master, probe);
        if (known === undefined) return false;
        // One that is off is left alone: `probe:enable` may be about to switch it on.
        if (known.on) await master.call('ACL', 'SETUSER', user, 'off');
        await master.call('CLIENT', 'KILL', 'USER', user);
        // Without an ACL file it is off until a restart, and then by the next look.
        if (known.on) await master.call('ACL', 'SAVE').catch(() => undefined);
        return true;
      } catch (error) {
        if (Error.isError(error) && error.message.startsWith('NOPERM')) return false;
        throw error;
      }
    }),
  );
  return outcomes.every(Boolean);
}

async function usedMemory(redis: Redis): Promise<number> {
  const infos = await Promise.all(mastersOf(redis).map((master) => master.info('memory')));
  return infos.reduce((sum, info) => sum + Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? 0), 0);
}
