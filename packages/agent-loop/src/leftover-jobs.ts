import { setImmediate as turn } from 'node:timers/promises';

import { checkOfScreenshotJob, LONGEST_CHECK_MS } from '@vantage/contract';
import type { Logger } from 'pino';

import { failureResult, probeFailure } from './probe-failure.ts';
import type { ProbeQueue } from './probe-queue.ts';
import type { ResultOutlet } from './results.ts';

export interface LeftoverParts {
  readonly queue: Pick<ProbeQueue, 'active' | 'discard'>;
  /** True for a job that this agent took, for at least five minutes. */
  readonly knows: (id: string) => boolean;
  /** True for a job that was withdrawn: it ended without a result. */
  readonly wasWithdrawn: (id: string) => boolean;
  /** Runs a job as if this agent had taken it. */
  readonly adopt: (id: string) => void;
  readonly isCheckId: (id: string) => boolean;
  readonly outlet: ResultOutlet;
  /** The clock of Redis, milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * Finds active jobs that this agent does not know. Those that the first poll finds, before this agent takes any, are
 * reported as interrupted and not run again, since a later measurement would be a different one. So are those of
 * `wasWithdrawn`. Others that two polls in a row find count as taken by this agent with the reply lost, and are run:
 * two agents of one probe would run each other's jobs.
 *
 * @returns a function that polls once, and resolves once the list is read; the jobs are handled afterwards
 */
export function createLeftoverPoll(parts: LeftoverParts): () => Promise<void> {
  const { queue, knows, wasWithdrawn, adopt, isCheckId, outlet, now, log } = parts;
  const underWay = new Set<string>();
  let inherited: ReadonlySet<string> | undefined;
  let suspects: ReadonlySet<string> = new Set();
  let isAsking = false;

  const end = async (id: string): Promise<void> => {
    underWay.add(id);
    // The deadline of the job is unknown, because the job is not read: this time is not earlier.
    const deadlineAt = now() + LONGEST_CHECK_MS;
    try {
      log.warn({ check: id }, 'job interrupted');
      const checkOfScreenshot = checkOfScreenshotJob(id);
      if (checkOfScreenshot !== undefined && isCheckId(checkOfScreenshot)) {
        const none = { png: null, failure: probeFailure('probe_interrupted') };
        await outlet.screenshot(checkOfScreenshot, none, deadlineAt);
      } else if (isCheckId(id)) {
        const result = failureResult(probeFailure('probe_interrupted'), null, new Date(now()).toISOString());
        await outlet.final(id, result, deadlineAt);
      }
      // Only after the result is written: if the agent dies in between, the next one finds the job again.
      await queue.discard([id]);
    } catch (error) {
      log.warn({ err: error, check: id }, 'leftover job not removed');
    } finally {
      underWay.delete(id);
    }
  };

  const recover = (id: string): void => {
    log.warn({ check: id }, 'job reply lost: running the job now');
    adopt(id);
  };

  return async () => {
    // An earlier poll still waits for Redis.
    if (isAsking) return;
    isAsking = true;
    const ids = await queue.active().finally(() => (isAsking = false));
    // Processes replies that arrived before the list first: they make jobs known.
    await turn();
    const unknown = ids.filter((id) => (wasWithdrawn(id) || !knows(id)) && !underWay.has(id));
    inherited ??= new Set(unknown);
    const isOver = (id: string): boolean => inherited?.has(id) === true || wasWithdrawn(id);
    const left = unknown.filter(isOver);
    const lost = unknown.filter((id) => !isOver(id));
    const recovered = lost.filter((id) => suspects.has(id));
    suspects = new Set(lost);
    recovered.forEach(recover);
    for (const id of left) void end(id);
  };
}
