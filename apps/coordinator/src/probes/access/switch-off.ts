import { agentUser, redisKeys } from '@vantage/contract';
import { mastersOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { defineScript, runScript } from '../../redis/scripts.ts';
import { changeScript } from '../enrolment/access-scripts.ts';
import { readUser } from './redis-users.ts';

// A flood may have left no memory for commands that write.
const noteScript = defineScript('allow-oom', "return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])");

/**
 * Switches a probe off until its operator switches it on again: no work, and no login for its agent.
 *
 * @returns false if there is no such user, or the coordinator's own may not do it
 */
export async function switchOff(redis: Redis, probe: string, reason: string): Promise<boolean> {
  // Noted first: whatever fails afterwards is done by the next look.
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

/** The user alone: a replica that became a master may know it as it was. */
export async function switchOffUser(redis: Redis, probe: string): Promise<boolean> {
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
