import { mastersOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

/** Approximate number of keys that one SCAN examines. */
const AT_ONCE = 1_000;
/** Concurrent measurements, each of which blocks Redis for a while. */
const MEASURED_AT_ONCE = 8;
const SAMPLES = 100_000;
const PROBE_KEY = /^p:\{([a-z0-9][a-z0-9-]{0,62})\}:/;

/**
 * Bytes of each probe's keys as Redis accounts them. An agent can create keys of any name below its prefix, so all are
 * scanned. Measuring of a probe ends when it exceeds the limit; keys that are measured at the time still count.
 */
export async function measureProbeKeys(redis: Redis, limitBytes: number): Promise<ReadonlyMap<string, number>> {
  const bytes = new Map<string, number>();
  for (const master of mastersOf(redis)) {
    for await (const keys of scan(master, 'p:{*}:*')) {
      for (let next = 0; next < keys.length; next += MEASURED_AT_ONCE) {
        const wanted = keys.slice(next, next + MEASURED_AT_ONCE).flatMap((key) => {
          const probe = PROBE_KEY.exec(key)?.[1];
          return probe === undefined || (bytes.get(probe) ?? 0) > limitBytes ? [] : [{ key, probe }];
        });
        // Enough samples to notice a large element among small ones, without blocking Redis for long.
        const sizes = await Promise.all(wanted.map(({ key }) => master.memory('USAGE', key, 'SAMPLES', SAMPLES)));
        for (const [index, { probe }] of wanted.entries()) {
          bytes.set(probe, (bytes.get(probe) ?? 0) + (sizes[index] ?? 0));
        }
      }
    }
  }
  return bytes;
}

/**
 * Removes every key in the part of Redis that the agent's user can write to, whatever the key is called: a stolen login
 * may have created others than the agent does.
 *
 * @param masters every server that accepts writes
 */
export async function removeProbeKeys(masters: readonly Redis[], probe: string): Promise<void> {
  for (const master of masters) {
    for await (const keys of scan(master, `p:{${probe}}:*`)) {
      // UNLINK frees memory in another thread; deleting large values would block Redis.
      await Promise.all(keys.map((key) => master.unlink(key)));
    }
  }
}

async function* scan(master: Redis, pattern: string): AsyncGenerator<readonly string[]> {
  let cursor = '0';
  do {
    const [next, keys] = await master.scan(cursor, 'MATCH', pattern, 'COUNT', AT_ONCE);
    yield keys;
    cursor = next;
  } while (cursor !== '0');
}
