import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { quantile, type Figure } from '../goals.ts';
import { countCpu, end, startWorker } from '../load/processes.ts';
import type { Stage } from '../load/stage.ts';
import { describeDelays } from './ticks.ts';

const SCHEDULERS = new URL('schedulers-worker.ts', import.meta.url);

/** BullMQ's job schedulers with an empty worker, on the Redis of the stage: the lower bound of the delay. */
export async function schedulers(
  { redisPort }: Pick<Stage, 'redisPort'>,
  count: number,
  everyMs: number,
  seconds: number,
): Promise<readonly Figure[]> {
  const { child } = await startWorker(SCHEDULERS, [redisPort, count, everyMs, everyMs].map(String));
  try {
    await sleep(3_000);
    child.send('delays');
    await once(child, 'message');
    const cpu = countCpu({ worker: [child.pid!] });
    await sleep(seconds * 1_000);
    child.send('delays');
    const [delaysMs] = (await once(child, 'message')) as [readonly number[]];
    return [
      {
        name: `${count} job schedulers of BullMQ: p99 from the tick to its job`,
        value: quantile(delaysMs, 0.99),
        unit: 'ms',
        comparison: describeDelays(delaysMs),
      },
      {
        name: `${count} job schedulers of BullMQ: CPU of the worker a tick`,
        value: cpu().worker / delaysMs.length,
        unit: 'ms',
      },
    ];
  } finally {
    await end(child);
  }
}
