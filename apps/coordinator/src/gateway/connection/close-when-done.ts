import { setTimeout as sleep } from 'node:timers/promises';

import { LONGEST_CHECK_MS } from '@vantage/contract';

import type { AgentSocket } from './agent-socket.ts';
import type { ProbeJobs } from '../jobs/probe-jobs.ts';

export interface RetiredConnection {
  readonly socket: Pick<AgentSocket, 'isOpen' | 'close'>;
  readonly instance: string;
  readonly jobs: Pick<ProbeJobs, 'active'>;
  /** Number of jobs of this connection without a final result. */
  readonly running: () => number;
}

/** Time in which a replaced agent may end its jobs and deliver their results: longer than any check. */
const RETIRE_MS = LONGEST_CHECK_MS + 15_000;
const POLL_INTERVAL_MS = 250;

/**
 * Closes the connection of an agent that was replaced, when its jobs have final results and have left the queue, or
 * after `RETIRE_MS`.
 */
export async function closeWhenDone({ socket, instance, jobs, running }: RetiredConnection): Promise<void> {
  // The active jobs in the queue include screenshots, which hold no slot, and jobs from earlier connections of the
  // agent.
  const isWorking = async (): Promise<boolean> =>
    running() > 0 || (await jobs.active()).some(({ taker }) => taker === instance);
  for (let polls = RETIRE_MS / POLL_INTERVAL_MS; polls > 0 && socket.isOpen(); polls -= 1) {
    await sleep(POLL_INTERVAL_MS, undefined, { ref: false });
    if (!(await isWorking().catch(() => true))) break;
  }
  socket.close(4409);
}
