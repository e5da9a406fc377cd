import { median } from '../goals.ts';
import { redisInfo } from '../load/redis-info.ts';
import type { Stage } from '../load/stage.ts';
import { residentMiB } from '../../chaos/processes.ts';

const EVERY_MS = 2_000;

/**
 * Memory at the start and at the end of a measurement, MiB: the median of the first and of the last fifth of the
 * samples.
 */
export interface Growth {
  readonly from: number;
  readonly to: number;
}

export interface MemoryGrowth {
  /** Growth of the coordinator that grew most. */
  readonly coordinator: Growth;
  readonly redis: Growth;
}

/** @returns a function that ends the watch and returns the growth */
export function watchMemory({ redisPort, pids }: Stage): () => Promise<MemoryGrowth> {
  const redis: number[] = [];
  const coordinators = pids.coordinators.map((pid) => ({ pid, samples: [] as number[] }));
  const sample = async (): Promise<void> => {
    for (const { pid, samples } of coordinators) samples.push(residentMiB(pid));
    redis.push((await redisInfo(redisPort))('used_memory') / 2 ** 20);
  };
  let last = sample();
  const timer = setInterval(() => {
    last = last.then(sample);
  }, EVERY_MS);
  return async () => {
    clearInterval(timer);
    await last;
    const [worst] = coordinators
      .map(({ samples }) => growthOf(samples))
      .toSorted((a, b) => b.to / b.from - a.to / a.from);
    return { coordinator: worst!, redis: growthOf(redis) };
  };
}

function growthOf(samples: readonly number[]): Growth {
  const fifth = Math.max(1, Math.floor(samples.length / 5));
  return { from: median(samples.slice(0, fifth)), to: median(samples.slice(-fifth)) };
}
