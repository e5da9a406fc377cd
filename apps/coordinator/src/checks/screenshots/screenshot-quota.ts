import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { defineScript, runScript } from '../../redis/scripts.ts';
import { onStore } from '../../redis/store.ts';

/**
 * Records a stored screenshot and removes the records of those to be deleted: expired ones, and the oldest until all
 * fit. Their sizes are part of the members. Runs even if Redis is over `maxmemory`, because the caller then frees
 * memory. KEYS members, total bytes. ARGV member, bytes, maximum bytes, lifetime of a screenshot (ms). Returns the
 * removed members.
 */
export const recordScreenshotScript = defineScript(
  'allow-oom',
  `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local most, kept = tonumber(ARGV[3]), tonumber(ARGV[4])
if redis.call('ZADD', KEYS[1], 'NX', string.format('%.0f', now), ARGV[1]) == 1 then
  redis.call('INCRBY', KEYS[2], ARGV[2])
end
local total = tonumber(redis.call('GET', KEYS[2]) or '0')
local gone = {}
while true do
  local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
  if #oldest == 0 or (total <= most and tonumber(oldest[2]) > now - kept) then break end
  redis.call('ZREM', KEYS[1], oldest[1])
  total = redis.call('DECRBY', KEYS[2], string.match(oldest[1], '%d+$'))
  gone[#gone + 1] = oldest[1]
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return gone
`,
);

/** Bounds the memory of all screenshots: any client can request screenshots of maximum size. */
export interface ScreenshotQuota {
  /**
   * Counts a stored screenshot; removes the oldest if the limit is exceeded.
   *
   * @throws StoreUnavailable
   */
  readonly note: (id: string, probe: string, bytes: number) => Promise<void>;
}

export interface ScreenshotQuotaOptions {
  readonly redis: Redis;
  /** Maximum bytes of all screenshots. */
  readonly maxBytes: number;
  /** Longest lifetime of a screenshot, milliseconds. */
  readonly keptMs: number;
}

export function createScreenshotQuota({ redis, maxBytes, keptMs }: ScreenshotQuotaOptions): ScreenshotQuota {
  return {
    note: (id, probe, bytes) =>
      onStore(redis, async () => {
        const keys = [redisKeys.screenshotSizes, redisKeys.screenshotBytes];
        const values = [`${id} ${probe} ${bytes}`, bytes, maxBytes, keptMs];
        const gone = (await runScript(redis, recordScreenshotScript, keys, values)) as readonly string[];
        await Promise.all(
          gone.map((note) => {
            const [of = '', by = ''] = note.split(' ');
            return redis.del(redisKeys.checkScreenshot(of, by));
          }),
        );
      }),
  };
}
