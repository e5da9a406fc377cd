import type { ProbeQueue } from './probe-queue.ts';
import type { RedisLink } from './redis-link.ts';
import type { RunningJobs } from './running-jobs.ts';

/** Ends running jobs that are no longer in the queue, as after a suspension or removal of the probe. */
export interface WithdrawalWatch {
  readonly start: () => void;
  readonly stop: () => void;
}

export interface WithdrawalWatchParts {
  readonly queue: Pick<ProbeQueue, 'active' | 'exists'>;
  readonly running: Pick<RunningJobs, 'ids' | 'withdraw'>;
  readonly link: Pick<RedisLink, 'redis' | 'losses' | 'onLoginRefused'>;
}

/** Poll interval. Only an agent with jobs polls: one small read, and one of each running job that the list lacks. */
const POLL_INTERVAL_MS = 1_000;

/**
 * Withdraws all running jobs when Redis refuses the login, which a suspended agent has lost. Also polls for running
 * jobs that are no longer in the queue: an agent that was resumed at once, or shares its login, sees no refusal.
 */
export function watchWithdrawals({ queue, running, link }: WithdrawalWatchParts): WithdrawalWatch {
  let timer: NodeJS.Timeout | undefined;
  const poll = async (): Promise<void> => {
    const before = running.ids();
    if (before.length === 0 || link.redis.status !== 'ready') return;
    const active = new Set(await queue.active());
    const missing = before.filter((id) => !active.has(id));
    // A server that has just become the master may lack the takes, but it has the jobs.
    const exist = await Promise.all(missing.map(queue.exists));
    const withdrawn = missing.filter((_id, index) => exist[index] === false);
    if (withdrawn.length > 0) link.losses.excuse();
    running.withdraw(withdrawn);
  };
  return {
    start: () => {
      link.onLoginRefused(() => {
        link.losses.excuse();
        running.withdraw();
      });
      // After an error the next poll retries.
      timer ??= setInterval(() => void poll().catch(() => undefined), POLL_INTERVAL_MS);
    },
    stop: () => clearInterval(timer),
  };
}
