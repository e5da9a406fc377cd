import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { defineScript, runScript } from '../../redis/scripts.ts';
import { onStore } from '../../redis/store.ts';

/**
 * Notes a picture that is kept, and which others have to go: the oldest, until all fit together. Their sizes are in their
 * notes, so that what has expired by itself is counted no longer. Frees memory, so it runs when memory is short.
 *
 * KEYS notes, bytes in all. ARGV note, bytes, the most of them, time for which pictures are kept (ms). Returns the notes of
 * those that have to go.
 */
export const notePictureScript = defineScript(
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

/** The memory that the pictures of all checks may take: anybody can have pages photographed that are as large as may be. */
export interface PictureRoom {
  /**
   * Counts a picture that has just been kept; the oldest go where there are too many bytes.
   *
   * @throws StoreUnavailable
   */
  readonly note: (id: string, probe: string, bytes: number) => Promise<void>;
}

export interface PictureRoomOptions {
  readonly redis: Redis;
  /** Bytes of all pictures together. */
  readonly maxBytes: number;
  /** For how long a picture is kept at most, milliseconds. */
  readonly keptMs: number;
}

export function createPictureRoom({ redis, maxBytes, keptMs }: PictureRoomOptions): PictureRoom {
  return {
    note: (id, probe, bytes) =>
      onStore(redis, async () => {
        const keys = [redisKeys.screenshotSizes, redisKeys.screenshotBytes];
        const values = [`${id} ${probe} ${bytes}`, bytes, maxBytes, keptMs];
        const gone = (await runScript(redis, notePictureScript, keys, values)) as readonly string[];
        await Promise.all(
          gone.map((note) => {
            const [of = '', by = ''] = note.split(' ');
            return redis.del(redisKeys.checkScreenshot(of, by));
          }),
        );
      }),
  };
}
