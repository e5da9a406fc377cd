import { agentUser, redisKeys } from '@vantage/contract';
import { mastersOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import { defineScript, runScript } from '../../redis/scripts.ts';
import { changeAccess } from '../enrolment/change-access.ts';
import { readUser } from './redis-users.ts';
import { withdrawJobs } from './withdraw-jobs.ts';
import { suspendedFailure } from './withdrawal.ts';
import { isDenied } from '../../redis/store.ts';

// `allow-oom`, because a flood may have used up the memory.
const noteScript = defineScript('allow-oom', "return redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])");

/**
 * Suspends a probe until its operator enables it again: no jobs, and no login for its agent.
 *
 * @returns as `switchOffUser`
 */
export async function switchOff(redis: Redis, probe: string, reason: string): Promise<boolean> {
  // The suspension is recorded first: if the rest fails, the next poll of the key quota disables the Redis user.
  const text = `Switched off: ${reason}`;
  await runScript(redis, noteScript, [redisKeys.suspended], [probe, text]);
  // Notifies the gateways, which disconnect the agent.
  await changeAccess(redis, probe, 'suspend', text);
  const isOff = await switchOffUser(redis, probe);
  await withdrawJobs(redis, probe, suspendedFailure(text));
  return isOff;
}

/**
 * Disables only the Redis user of a suspended probe, for example on a replica that became a master and missed the
 * change.
 *
 * @returns false if there is no such user, the coordinator may not change it, or the suspension was ended meanwhile:
 * then the user stays enabled
 */
export async function switchOffUser(redis: Redis, probe: string): Promise<boolean> {
  const user = agentUser(probe);
  const outcomes = await Promise.all(
    mastersOf(redis).map(async (master) => {
      try {
        const known = await readUser(master, probe);
        if (known === undefined) return false;
        // A disabled user is not disabled again: `probe:enable` may be about to enable it.
        const isOff = !known.on || (await disable(redis, master, probe));
        if (isOff) await disconnect(master, user);
        // Without an ACL file the change lasts until Redis restarts; then the next poll repeats it.
        if (known.on) await master.call('ACL', 'SAVE').catch(() => undefined);
        return isOff;
      } catch (error) {
        if (isDenied(error)) return false;
        throw error;
      }
    }),
  );
  return outcomes.every(Boolean);
}

/** Ends the connections of a user. If Redis offers no `CLIENT`, they last until the agent leaves; no job reaches it. */
async function disconnect(master: Redis, user: string): Promise<void> {
  await master.call('CLIENT', 'KILL', 'USER', user).catch((error: unknown) => {
    if (!isDenied(error)) throw error;
  });
}

/** @returns false if the suspension was ended meanwhile: then the user is enabled again */
async function disable(redis: Redis, master: Redis, probe: string): Promise<boolean> {
  await master.call('ACL', 'SETUSER', agentUser(probe), 'off');
  // `probe:enable` removes the record and then enables the user: both may have happened before the command above.
  if ((await redis.hexists(redisKeys.suspended, probe)) === 1) return true;
  await master.call('ACL', 'SETUSER', agentUser(probe), 'on');
  return false;
}
