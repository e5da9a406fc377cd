import type { Redis } from 'ioredis';

import { isStoreFault } from '../../redis/store.ts';
import { acknowledge } from './result-stream.ts';

/**
 * Entries that are worked off are acknowledged with the next reading of their stream, or after this time. Well below the
 * time after which they would look abandoned.
 */
const LATEST_MS = 250;

/** Entries of result streams that are worked off and not acknowledged yet. Lost, they are worked off again: a no-op. */
export interface Acknowledgements {
  readonly add: (probe: string, ids: readonly string[]) => void;
  /** Hands what there is to a command that acknowledges it. It is kept for another one where the store does not take it. */
  readonly alongWith: <T>(probe: string, command: (ids: readonly string[]) => Promise<T>) => Promise<T>;
  /** Acknowledges at once what there is, of one probe or of all. Never rejects. */
  readonly flush: (probe?: string) => Promise<void>;
  /** Acknowledges all and keeps nothing any more. Never rejects. */
  readonly close: () => Promise<void>;
}

export function createAcknowledgements(redis: Redis): Acknowledgements {
  const waiting = new Map<string, readonly string[]>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const add = (probe: string, ids: readonly string[]): void => {
    if (ids.length === 0 || closed) return;
    waiting.set(probe, [...(waiting.get(probe) ?? []), ...ids]);
    timer ??= setTimeout(() => void flush(), LATEST_MS);
  };

  const alongWith = async <T>(probe: string, command: (ids: readonly string[]) => Promise<T>): Promise<T> => {
    const ids = waiting.get(probe) ?? [];
    waiting.delete(probe);
    try {
      return await command(ids);
    } catch (error) {
      // A stream that is none any more has nothing to acknowledge.
      if (isStoreFault(error)) add(probe, ids);
      throw error;
    }
  };

  const flush = async (probe?: string): Promise<void> => {
    if (probe === undefined) {
      clearTimeout(timer);
      timer = undefined;
    }
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
