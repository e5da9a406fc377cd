import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { Log } from '../log.ts';
import { onStore } from '../store.ts';
import { StoreUnavailable } from '../store-errors.ts';

/** Knows whether Redis takes writes: with a full disk or full memory it still answers every read. */
export interface WriteWatch {
  /** Why Redis refuses writes, as of the last look; undefined if it takes them or does not answer at all. */
  readonly refusal: () => string | undefined;
  /** @throws StoreUnavailable if writes are refused */
  readonly requireWrites: () => void;
  /** Rejects if Redis does not answer. */
  readonly look: () => Promise<void>;
}

/** Replies to a write of a server that is there and cannot write. */
const REFUSAL = /^(?:MISCONF|OOM|READONLY|NOREPLICAS)\b/;

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
      if (refusal !== undefined) throw new StoreUnavailable('Redis refuses writes');
    },
    look: () =>
      onStore(redis, async (ready) => {
        try {
          // A write that changes nothing: the list never exists. Its slot is the one that every check needs.
          await ready.rpushx(redisKeys.writeTest, '');
          note(undefined);
        } catch (error) {
          const reply = Error.isError(error) ? error.message : '';
          if (!REFUSAL.test(reply)) throw error;
          note(reply.slice(0, 200));
        }
      }),
  };
}
