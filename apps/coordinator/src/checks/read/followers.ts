import { randomUUID } from 'node:crypto';

import { ABANDONED_FIELD, endsWithStream, JOB_QUEUE, redisKeys, type Job } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { defineScript, runScript } from '../../redis/scripts.ts';

/**
 * Event streams of checks with the option `endWithStream`: the jobs of such a check that have not ended are marked as
 * abandoned when its last event stream is closed and no client connects again within a grace period.
 */
export interface Followers {
  /**
   * Registers an event stream of a check; without effect if the check lacks the option.
   *
   * @param pending the probes that have not ended yet
   * @returns a function to call when the stream is closed
   */
  readonly note: (id: string, pending: () => readonly string[]) => () => void;
  /** Ends no more checks: streams closed after this call are closed by the service, not by their clients. */
  readonly stop: () => void;
}

/** Time for a client to connect again, to any coordinator. */
const GRACE_MS = 3_000;
/** Lease of the streams of a coordinator: after a crash they count for this long at most. */
const LEASE_MS = 6_000;
const RENEW_EVERY_MS = 2_000;

/** Records that a coordinator follows the check, with a lease. KEYS followers. ARGV coordinator, lease (ms). */
const followScript = defineScript(
  '',
  `
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], time[1] * 1000 + time[2] / 1000 + ARGV[2], ARGV[1])
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`,
);

/**
 * Removes a coordinator and those whose lease has ended from the followers of the check. KEYS followers. ARGV
 * coordinator. Returns how many others follow.
 */
const leaveScript = defineScript(
  'allow-oom',
  `
local time = redis.call('TIME')
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', time[1] * 1000 + time[2] / 1000)
return redis.call('ZCARD', KEYS[1])`,
);

/** Marks a job as abandoned, if it still exists. KEYS job. */
const abandonScript = defineScript(
  'allow-oom',
  `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
return redis.call('HSET', KEYS[1], '${ABANDONED_FIELD}', 1)`,
);

export const followerScripts = [followScript, leaveScript, abandonScript] as const;

/** Records in Redis which coordinators have event streams of a check. If Redis fails, the check runs to its end. */
export function createFollowers(redis: Redis): Followers {
  return new CheckFollowers(redis);
}

class CheckFollowers implements Followers {
  readonly #redis: Redis;
  readonly #own = randomUUID();
  /** Number of open event streams by check, of checks that end when their last stream is closed. */
  readonly #streams = new Map<string, number>();
  #renewal: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  readonly note: Followers['note'] = (id, pending) => {
    const begun = this.#begin(id, pending()).catch(() => false);
    return () => {
      const probes = pending();
      void begun.then((isWatched) => (isWatched ? this.#end(id, probes) : undefined));
    };
  };

  readonly stop = (): void => {
    this.#isStopped = true;
    clearInterval(this.#renewal);
  };

  /** @returns whether the check ends with its streams */
  async #begin(id: string, [probe]: readonly string[]): Promise<boolean> {
    const data = probe === undefined ? null : await this.#redis.hget(jobKey(probe, id), 'data');
    const isWatched = data?.includes('endWithStream') === true && endsWithStream((JSON.parse(data) as Job).params);
    if (!isWatched) return false;
    this.#streams.set(id, (this.#streams.get(id) ?? 0) + 1);
    this.#renewal ??= setInterval(() => this.#renewAll(), RENEW_EVERY_MS);
    await this.#renew(id);
    return true;
  }

  async #renew(id: string): Promise<void> {
    const keys = [redisKeys.checkFollowers(id)];
    await runScript(this.#redis, followScript, keys, [this.#own, LEASE_MS]).catch(() => undefined);
  }

  #renewAll(): void {
    for (const id of this.#streams.keys()) void this.#renew(id);
    if (this.#streams.size > 0) return;
    clearInterval(this.#renewal);
    this.#renewal = undefined;
  }

  #end(id: string, probes: readonly string[]): void {
    const left = (this.#streams.get(id) ?? 1) - 1;
    if (left > 0) return void this.#streams.set(id, left);
    this.#streams.delete(id);
    if (probes.length > 0) setTimeout(() => void this.#abandon(id, probes).catch(() => undefined), GRACE_MS).unref();
  }

  async #abandon(id: string, probes: readonly string[]): Promise<void> {
    const isFollowed = (): boolean => this.#isStopped || this.#streams.has(id);
    if (isFollowed()) return;
    const others = await runScript(this.#redis, leaveScript, [redisKeys.checkFollowers(id)], [this.#own]);
    if (others !== 0 || isFollowed()) return;
    await Promise.all(probes.map((probe) => runScript(this.#redis, abandonScript, [jobKey(probe, id)], [])));
    await this.#redis.publish(redisKeys.jobsAbandoned, [id, ...probes].join(' '));
  }
}

function jobKey(probe: string, id: string): string {
  return `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:${id}`;
}
