import { createLeftoverPoll, type LeftoverParts } from './leftover-jobs.ts';
import type { RedisLink } from './redis-link.ts';

/** Looks for active jobs that this agent does not know. */
export interface LeftoverWatch {
  /** Polls once. Rejects if Redis does not answer. */
  readonly poll: () => Promise<void>;
  readonly start: () => void;
  readonly stop: () => void;
}

/** Poll interval. */
const POLL_INTERVAL_MS = 2_000;
/** Replies are lost only with a connection: this many polls after the last connection, polls become rare. */
const POLLS_AFTER_CONNECTING = 30;
/** Number of intervals per poll from then on. */
const INTERVALS_PER_POLL = 5;

export function watchLeftovers(
  parts: LeftoverParts,
  { redis, blocking }: Pick<RedisLink, 'redis' | 'blocking'>,
): LeftoverWatch {
  const poll = createLeftoverPoll(parts);
  let timer: NodeJS.Timeout | undefined;
  let polls = 0;
  let hasFailed = false;

  const pollQuietly = async (): Promise<void> => {
    // Lost connections are logged separately.
    if (redis.status !== 'ready') return;
    try {
      await poll();
      hasFailed = false;
    } catch (error) {
      if (!hasFailed && redis.status === 'ready') parts.log.warn({ err: error }, 'recovery of leftover jobs failed');
      hasFailed = true;
    }
  };

  return {
    poll,
    start: () => {
      blocking.on('ready', () => (polls = 0));
      timer ??= setInterval(() => {
        polls += 1;
        if (polls <= POLLS_AFTER_CONNECTING || polls % INTERVALS_PER_POLL === 0) void pollQuietly();
      }, POLL_INTERVAL_MS);
    },
    stop: () => clearInterval(timer),
  };
}
