import { once } from 'node:events';

import type { RedisServer } from '@vantage/redis-server';

import { recordProbes, untilProbesAreUp } from '../../trial-probes.ts';
import { median, quantile, type Figure } from '../goals.ts';
import { end, startWorker } from '../load/processes.ts';
import { outcomeOf, startCheck, startCoordinator } from './service.ts';

const LOOPS = new URL('loops-worker.ts', import.meta.url);
const PROBES = 10;
/**
 * Allowed delay of a job over a gateway, milliseconds, in addition to a network round trip and the delay of an agent at
 * Redis.
 */
const MORE_MS = 5;

/** A link between the agents and the service. */
export interface AgentLink {
  /** Address of the service that agents reach over the link. */
  readonly address: string;
  readonly rttMs: number;
  /** Words that run a command at the agents' end of the link. */
  readonly inside: readonly string[];
}

const loopback: AgentLink = { address: '127.0.0.1', rttMs: 0, inside: [] };

/** Transit time of jobs to an agent: through a gateway, and directly from Redis, in turns. */
export async function dispatch(
  redis: RedisServer,
  quick: boolean,
  { address, rttMs, inside }: AgentLink = loopback,
): Promise<readonly Figure[]> {
  const names = (kind: string): readonly string[] => Array.from({ length: PROBES }, (_, index) => `${kind}-${index}`);
  await recordProbes(redis.url, [...names('far'), ...names('near')]);
  const coordinator = await startCoordinator(redis, undefined, address);
  const { url } = coordinator;
  const redisUrl = redis.url.replace('127.0.0.1', address);
  const workers = [
    await startWorker(LOOPS, [redisUrl, url, 'far', String(PROBES)], inside),
    await startWorker(LOOPS, [redisUrl, '', 'near', String(PROBES)], inside),
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
        name: `dispatch through a gateway, round trip of ${rttMs} ms, p99, more than directly from Redis`,
        value: quantile(far!, 0.99) - quantile(near!, 0.99),
        unit: 'ms',
        atMost: rttMs + MORE_MS,
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
