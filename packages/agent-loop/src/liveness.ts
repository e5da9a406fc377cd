import { LONGEST_CHECK_MS } from '@vantage/contract';
import type { Logger } from 'pino';

export interface LivenessParts {
  /** Number of replies from the queue so far, error replies included. */
  readonly turns: () => number;
  /** True while the loop takes no jobs because all slots are in use. */
  readonly isFull: () => boolean;
  /** True while Redis is reachable; otherwise the lack of progress is not the agent's fault. */
  readonly isConnected: () => boolean;
  /** Replaces the connections of the loop. */
  readonly reconnect: () => void;
  /** Ends the agent, so that its supervisor starts another one. */
  readonly giveUp: () => void;
  readonly log: Logger;
}

export interface Liveness {
  readonly start: () => void;
  readonly stop: () => void;
  /** Why this probe can take no jobs; undefined while the queue answers its job loop, or Redis is out of reach. */
  readonly reason: () => string | undefined;
}

const POLL_INTERVAL_MS = 1_000;
/**
 * Polls without a reply before a reconnect, one per second: longer than a blocking wait (`IDLE_WAIT_SECONDS`) and than
 * the detection of a dead connection (`PATIENT_SOCKET_TIMEOUT_MS`).
 */
const SILENT_POLLS = 9;
/** Polls without a reply before a reconnect while all slots are in use: the loop takes no jobs until a check ends. */
const FULL_POLLS = (LONGEST_CHECK_MS + 15_000) / POLL_INTERVAL_MS;
/** Further polls without progress until the agent gives up. */
const HOPELESS_POLLS = 21;

/**
 * Watches that the job loop makes progress: each wait for a job ends within `IDLE_WAIT_SECONDS`. Measured in polls, so
 * that a stall of the machine counts as one.
 */
export function createLiveness(parts: LivenessParts): Liveness {
  const { turns, isFull, isConnected, reconnect, giveUp, log } = parts;
  let timer: NodeJS.Timeout | undefined;
  let last = -1;
  let wasFull = false;
  let polls = 0;

  const allowed = (): number => (isFull() ? FULL_POLLS : SILENT_POLLS);

  const poll = (): void => {
    const hasChanged = turns() !== last || isFull() !== wasFull;
    [last, wasFull] = [turns(), isFull()];
    polls = hasChanged || !isConnected() ? 0 : polls + 1;
    if (polls >= allowed() && polls % SILENT_POLLS === 0) {
      log.error({ seconds: polls }, 'job loop stalled: replacing its connections');
      reconnect();
    }
    if (polls >= allowed() + HOPELESS_POLLS) {
      log.fatal({ seconds: polls }, 'job loop stalled: exiting');
      giveUp();
    }
  };

  return {
    start: () => {
      timer ??= setInterval(poll, POLL_INTERVAL_MS);
    },
    stop: () => clearInterval(timer),
    reason: () => {
      if (polls < allowed()) return undefined;
      const cause = isFull() ? 'the jobs in all of its places do not end' : 'its job loop does not turn';
      return `It has taken no jobs for ${polls} seconds: ${cause}.`;
    },
  };
}
