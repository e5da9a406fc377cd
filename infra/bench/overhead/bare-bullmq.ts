import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { Queue, QueueEvents } from 'bullmq';

/**
 * The floor: one job added, taken by a Worker in another process, its end seen by QueueEvents, each at its defaults.
 *
 * @returns the times of `count` round trips, one after another, milliseconds
 */
export async function bareRoundTrips(redisPort: number, count: number, pauseMs: number): Promise<readonly number[]> {
  const connection = { host: '127.0.0.1', port: redisPort };
  const worker = fork(new URL('bare-bullmq-worker.ts', import.meta.url), [String(redisPort)]);
  await once(worker, 'message');
  const queue = new Queue('bare', { connection });
  const events = new QueueEvents('bare', { connection });
  await events.waitUntilReady();
  const times: number[] = [];
  for (let done = 0; done < count; done += 1) {
    await sleep(pauseMs);
    const started = performance.now();
    const job = await queue.add('bare', { number: done }, { removeOnComplete: { count: 1_000 } });
    await job.waitUntilFinished(events);
    times.push(performance.now() - started);
  }
  worker.disconnect();
  worker.kill('SIGKILL');
  await events.close();
  await queue.close();
  return times;
}
