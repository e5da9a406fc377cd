import { setTimeout as sleep } from 'node:timers/promises';

import { redisKeys, type Heartbeat } from '@vantage/contract';
import type { RedisServer } from '@vantage/redis-server';
import { Redis } from 'ioredis';

import { recordProbes, untilProbesAreUp } from '../../trial-probes.ts';
import type { Figure } from '../goals.ts';
import { end, startWorker } from '../load/processes.ts';
import { outcomeOf, startCheck, startCoordinator, startFront, type Coordinator, type Front } from './service.ts';

const LOOPS = new URL('loops-worker.ts', import.meta.url);
const AGENTS = 500;
const LASTS_MS = 500;
const EVERY_MS = 100;
const BEFORE_MS = 5_000;
/** The load continues for this long after the last agent has returned. */
const AFTER_MS = 3_000;
const BUCKET_MS = 100;
const BACK_WITHIN_S = 60;

/** Kills a gateway with all agents under load while another one runs. */
export async function lostGateway(redis: RedisServer): Promise<readonly Figure[]> {
  const ids = Array.from({ length: AGENTS }, (_, index) => `lost-${index}`);
  await recordProbes(redis.url, ids);
  const front = await startFront();
  const [first, second] = [await startCoordinator(redis, front.url), await startCoordinator(redis, front.url)];
  front.route(first.port);
  const agents = await startWorker(LOOPS, [redis.url, front.url, 'lost', String(AGENTS), String(LASTS_MS)]);
  const watch = new Redis(redis.url);
  try {
    await untilProbesAreUp(second.url, AGENTS);
    return await underLoad({ ids, front, first, second, watch });
  } finally {
    watch.disconnect();
    await end(agents.child);
    front.close();
    await Promise.all([first.stop(), second.stop()]);
  }
}

interface Stage {
  readonly ids: readonly string[];
  readonly front: Front;
  readonly first: Coordinator;
  readonly second: Coordinator;
  readonly watch: Redis;
}

async function underLoad({ ids, front, first, second, watch }: Stage): Promise<readonly Figure[]> {
  const outcomes: Promise<string>[] = [];
  const load = setInterval(() => {
    const probe = ids[outcomes.length % ids.length]!;
    outcomes.push(
      startCheck(second.url, probe)
        .then((check) => outcomeOf(second.url, check, probe))
        .catch((error: unknown) => String(error)),
    );
  }, EVERY_MS);
  await sleep(BEFORE_MS);
  const [gone] = await gatewaysOf(watch, ids);
  const killedAt = performance.now();
  front.route(second.port);
  first.child.kill('SIGKILL');
  // The heartbeat of an agent that does not return expires.
  const isAway = (gateway: string | undefined): boolean => gateway === gone || gateway === undefined;
  while ((await gatewaysOf(watch, ids)).some(isAway)) await sleep(BUCKET_MS);
  const backS = (performance.now() - killedAt) / 1_000;
  await sleep(AFTER_MS);
  clearInterval(load);
  const all = await Promise.all(outcomes);
  const bad = all.filter((outcome) => outcome !== 'success');
  const name = (what: string): string => `a gateway with ${AGENTS} agents is killed under load: ${what}`;
  return [
    {
      name: name('checks that were lost or late'),
      value: bad.length,
      unit: 'checks',
      atMost: 0,
      comparison: `of ${all.length}${bad.length === 0 ? '' : `: ${[...new Set(bad)].join(', ')}`}`,
    },
    { name: name('all agents are back after'), value: backS, unit: 's', atMost: BACK_WITHIN_S },
    { name: name('peak of connects per 100 ms, mean = 1'), value: peakOf(front, killedAt), unit: '', atMost: 3 },
  ];
}

/**
 * IDs of the gateways of the agents according to their heartbeats, each once; undefined stands for agents without one.
 */
async function gatewaysOf(redis: Redis, ids: readonly string[]): Promise<readonly (string | undefined)[]> {
  const texts = await redis.mget(ids.map((id) => redisKeys.heartbeat(id)));
  return [...new Set(texts.map((text) => (text === null ? undefined : (JSON.parse(text) as Heartbeat).gateway?.id)))];
}

function peakOf(front: Front, fromMs: number): number {
  const after = front.connects().filter((ms) => ms >= fromMs);
  const [first, last] = [Math.min(...after), Math.max(...after)];
  const counts = Array.from({ length: Math.ceil((last - first) / BUCKET_MS) + 1 }, () => 0);
  for (const ms of after) counts[Math.floor((ms - first) / BUCKET_MS)]! += 1;
  return Math.max(...counts) / (after.length / counts.length);
}
