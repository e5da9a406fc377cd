import { agentUser, redisKeys } from '@vantage/contract';
import { mastersOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { defineScript, runScript } from '../../redis/scripts.ts';
import { changeScript } from '../enrolment/access-scripts.ts';
import { readUser } from './redis-users.ts';

// `allow-oom`, because a flood may have used up the memory.
const noteScript = defineScript('allow-oom', "return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])");

/**
 * Suspends a probe until its operator enables it again: no jobs, and no login for its agent.
 *
 * @returns false if there is no such user, or the coordinator may not change it
 */
export async function switchOff(redis: Redis, probe: string, reason: string): Promise<boolean> {
  // Recorded first: if the rest fails, the next look repeats it.
  const text = `Switched off: ${reason}`;
  await runScript(redis, noteScript, [redisKeys.suspended], [probe, text]);
  const keys = [
    redisKeys.agentAccess,
    redisKeys.agentChanges,
    redisKeys.agentKey(probe),
    redisKeys.agentCounters(probe),
  ];
  // Gateways disconnect its agent.
  await runScript(redis, changeScript, keys, [probe, redisKeys.agentChanged, 'suspend', text]);
  return switchOffUser(redis, probe);
}

/**
 * Disables the Redis user of a suspended probe only, for example on a replica that became a master and missed the change. If its
 * operator ends the suspension at the same moment, the user stays enabled.
 */
export async function switchOffUser(redis: Redis, probe: string): Promise<boolean> {
  const user = agentUser(probe);
  const outcomes = await Promise.all(
    mastersOf(redis).map(async (master) => {
      try {
        const known = await readUser(master, probe);
        if (known === undefined) return false;
        // A disabled user is left alone: `probe:enable` may be about to enable it.
        if (known.on) {
          await master.call('ACL', 'SETUSER', user, 'off');
          // `probe:enable` removes the record before it enables the user, which may have come between.
          if ((await redis.hexists(redisKeys.suspended, probe)) === 0) {
            await master.call('ACL', 'SETUSER', user, 'on');
            return true;
          }
        }
        await master.call('CLIENT', 'KILL', 'USER', user);
        // Without an ACL file this lasts until a restart; then the next look repeats it.
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
