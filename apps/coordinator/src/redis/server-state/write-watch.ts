import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { Log } from '../log.ts';
import { isWriteRefusal, onStore } from '../store.ts';
import { WritesRefused } from '../store-errors.ts';

/** Detects that Redis refuses writes: with a full disk or memory it still answers reads. */
export interface WriteWatch {
  /** Why Redis refused the last write that was tried; undefined if it accepted it, or before the first. */
  readonly refusal: () => string | undefined;
  /** @throws WritesRefused if writes are refused */
  readonly requireWrites: () => void;
  /** Tries a write. Rejects if Redis neither accepts nor refuses it. */
  readonly poll: () => Promise<void>;
}

export function createWriteWatch(redis: Redis, log: Log): WriteWatch {
  let refusal: string | undefined;

  const note = (reply: string | undefined): void => {
    if (reply !== undefined && refusal === undefined) log.error({ cause: reply }, 'Redis refuses writes');
    if (reply === undefined && refusal !== undefined) log.info({}, 'Redis takes writes');
    refusal = reply;
  };

  return {
    refusal: () => refusal,
    requireWrites: () => {
      if (refusal !== undefined) throw new WritesRefused('Redis refuses writes');
    },
    poll: () =>
      onStore(redis, async (ready) => {
        try {
          // A write without effect: the list never exists. In a Cluster, its key is in the hash slot of the deadlines,
          // to which each new check is added.
          await ready.rpushx(redisKeys.writeTest, '');
          note(undefined);
        } catch (error) {
          if (!isWriteRefusal(error)) throw error;
          note((error as Error).message.slice(0, 200));
        }
      }),
  };
}
