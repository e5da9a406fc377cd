import { fork } from 'node:child_process';
import { once } from 'node:events';

import { Queue, QueueEvents } from 'bullmq';

/**
 * BullMQ alone, with which the duration of a check is compared: one job is added, taken by a Worker in another process,
 * and its end reported by QueueEvents. Defaults, except the worker's concurrency and the number of completed jobs kept.
 */
export interface BareBullmq {
  /** Resolves when a job added by this call has finished. */
  readonly roundTrip: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function startBareBullmq(redisPort: number): Promise<BareBullmq> {
  const connection = { host: '127.0.0.1', port: redisPort };
  const worker = fork(new URL('bare-bullmq-worker.ts', import.meta.url), [String(redisPort)]);
  await once(worker, 'message');
  const queue = new Queue('bare', { connection });
  const events = new QueueEvents('bare', { connection });
  await events.waitUntilReady();
  let added = 0;
  return {
    roundTrip: async () => {
      const job = await queue.add('bare', { number: (added += 1) }, { removeOnComplete: { count: 1_000 } });
      await job.waitUntilFinished(events);
    },
    close: async () => {
      worker.disconnect();
      worker.kill('SIGKILL');
      await events.close();
      await queue.close();
    },
  };
}
