import type { Redis } from 'ioredis';

import { isStoreFault } from '../../redis/store.ts';
import { acknowledge } from './result-stream.ts';

/**
 * Ids of processed entries that are not acknowledged yet. If they are lost, the entries are processed again, which is
 * idempotent.
 */
export interface Acknowledgements {
  readonly add: (probe: string, ids: readonly string[]) => void;
  /** Passes the pending ids to a command that acknowledges them; keeps them if Redis is unavailable. */
  readonly alongWith: <T>(probe: string, command: (ids: readonly string[]) => Promise<T>) => Promise<T>;
  /** Acknowledges pending entries now, of one probe or of all. Never rejects. */
  readonly flush: (probe?: string) => Promise<void>;
  /** Acknowledges all pending entries and accepts no more. Never rejects. */
  readonly close: () => Promise<void>;
}

export function createAcknowledgements(redis: Redis): Acknowledgements {
  const waiting = new Map<string, readonly string[]>();
  let closed = false;

  const add = (probe: string, ids: readonly string[]): void => {
    if (ids.length === 0 || closed) return;
    waiting.set(probe, [...(waiting.get(probe) ?? []), ...ids]);
  };

  const alongWith = async <T>(probe: string, command: (ids: readonly string[]) => Promise<T>): Promise<T> => {
    const ids = waiting.get(probe) ?? [];
    waiting.delete(probe);
    try {
      return await command(ids);
    } catch (error) {
      // After another error, such as that of a key that is no stream any more, the ids are dropped.
      if (isStoreFault(error)) add(probe, ids);
      throw error;
    }
  };

  const flush = async (probe?: string): Promise<void> => {
    const probes = probe === undefined ? [...waiting.keys()] : [probe].filter((one) => waiting.has(one));
    await Promise.allSettled(probes.map((one) => alongWith(one, (ids) => acknowledge(redis, one, ids))));
  };

  return {
    add,
    alongWith,
    flush,
    close: () => {
      closed = true;
      return flush();
    },
  };
}
