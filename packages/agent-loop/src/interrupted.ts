import { setImmediate as turn } from 'node:timers/promises';

import { checkOfScreenshotJob } from '@vantage/contract';
import type { Logger } from 'pino';

import { failureResult, probeFailure } from './probe-failure.ts';
import type { ResultOutlet } from './results.ts';

export interface InterruptionSweepParts {
  readonly queue: {
    readonly active: () => Promise<readonly string[]>;
    readonly discard: (id: string) => Promise<void>;
  };
  /** True for a job that this agent runs, or ran in the last minutes. */
  readonly knows: (id: string) => boolean;
  readonly isCheckId: (id: string) => boolean;
  readonly outlet: ResultOutlet;
  /** The clock of Redis, milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Logger;
}

/** When the result was written the job's own deadline is as good as any; no check lasts longer. */
const LONGEST_CHECK_MS = 60_000;

/**
 * Reports every job as interrupted that is active and that this agent knows nothing of: an earlier agent died while it
 * ran it, or the answer that brought it was lost. Never run again: a later measurement is another measurement.
 */
export function createInterruptionSweep(parts: InterruptionSweepParts): () => Promise<void> {
  const { queue, knows, isCheckId, outlet, now, log } = parts;
  const underWay = new Set<string>();

  const end = async (id: string): Promise<void> => {
    underWay.add(id);
    try {
      log.warn({ check: id }, 'a job was interrupted');
      const photographed = checkOfScreenshotJob(id);
      if (photographed !== undefined && isCheckId(photographed)) {
        const none = { png: null, failure: probeFailure('probe_interrupted') };
        await outlet.screenshot(photographed, none, now() + LONGEST_CHECK_MS);
      } else if (isCheckId(id)) {
        const result = failureResult(probeFailure('probe_interrupted'), null, new Date(now()).toISOString());
        await outlet.final(id, result, now() + LONGEST_CHECK_MS);
      }
      // Only once the result stands: an agent that dies in between finds the job again.
      await queue.discard(id);
    } finally {
      underWay.delete(id);
    }
  };

  return async () => {
    const ids = await queue.active();
    // Jobs that were taken before the list was read are known once their answers, which came first, were worked off.
    await turn();
    await Promise.all(ids.filter((id) => !knows(id) && !underWay.has(id)).map(end));
  };
}
