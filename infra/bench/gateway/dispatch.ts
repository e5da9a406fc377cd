import { once } from 'node:events';

import type { RedisServer } from '@vantage/redis-server';

import { recordProbes, untilProbesAreUp } from '../../trial-probes.ts';
import { median, quantile, type Figure } from '../goals.ts';
import { end, startWorker } from '../load/processes.ts';
import { outcomeOf, startCheck, startCoordinator } from './service.ts';

const LOOPS = new URL('loops-worker.ts', import.meta.url);
const PROBES = 10;
/** Allowed delay in addition to that of an agent at Redis. On loopback a network round trip adds nothing. */
const MORE_MS = 5;

/** How long jobs are on their way to an agent: through a gateway, and directly from Redis, in turns. */
export async function dispatch(redis: RedisServer, quick: boolean): Promise<readonly Figure[]> {
  const names = (kind: string): readonly string[] => Array.from({ length: PROBES }, (_, index) => `${kind}-${index}`);
  await recordProbes(redis.url, [...names('far'), ...names('near')]);
  const coordinator = await startCoordinator(redis);
  const { url } = coordinator;
  const workers = [
    await startWorker(LOOPS, [redis.url, url, 'far', String(PROBES)]),
    await startWorker(LOOPS, [redis.url, '', 'near', String(PROBES)]),
  ];
  try {
    await untilProbesAreUp(url, 2 * PROBES);
    for (let index = 0; index < (quick ? 100 : 500); index += 1) {
      for (const kind of ['far', 'near']) {
        const probe = `${kind}-${index % PROBES}`;
        const outcome = await outcomeOf(url, await startCheck(url, probe), probe);
        if (outcome !== 'success') throw new Error(`A check on ${probe}: ${outcome}`);
      }
    }
    const [far, near] = await Promise.all(
      workers.map(async ({ child }) => {
        child.send('delays');
        return ((await once(child, 'message')) as [readonly number[]])[0];
      }),
    );
    return [
      {
        name: 'dispatch through a gateway, p99, more than directly from Redis',
        value: quantile(far!, 0.99) - quantile(near!, 0.99),
        unit: 'ms',
        atMost: MORE_MS,
        comparison:
          `${quantile(far!, 0.99)} and ${quantile(near!, 0.99)} ms; ` +
          `the medians are ${median(far!)} and ${median(near!)} ms`,
      },
    ];
  } finally {
    for (const { child } of workers) await end(child);
    await coordinator.stop();
  }
}
