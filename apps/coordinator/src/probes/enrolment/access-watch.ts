import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { readHash } from '../../redis/read-hash.ts';
import { onStore } from '../../redis/store.ts';
import { NO_ACCESS, readAccess, type AgentAccess } from './agent-access.ts';

/** Pub/sub is lossy: polling applies a change no later than this plus a tenth (the jitter of ticks) and a round trip. */
export const LOOK_EVERY_MS = 500;
/** Everything is read again at this interval, because an older master may have become the current one. */
const READ_ALL_EVERY_MS = 30_000;
/** Beyond this number of changes, everything is read. */
const MOST_CHANGES = 500;

export type OnAccess = (probeId: string, access: AgentAccess) => void;

/** Access of every enrolled agent, at most half a second old while Redis is available. */
export interface AccessWatch {
  readonly of: (probeId: string) => AgentAccess;
  /** Calls the listener for every change, including a removal, until the returned function is called. */
  readonly onChange: (listener: OnAccess) => () => void;
  /**
   * Reads the changes. Concurrent calls share one read.
   *
   * @throws StoreUnavailable
   */
  readonly look: () => Promise<void>;
}

interface Known {
  readonly text: string;
  readonly access: AgentAccess;
}

export function createAccessWatch(redis: Redis): AccessWatch {
  const known = new Map<string, Known>();
  const listeners = new Set<OnAccess>();
  let last: string | undefined;
  let readAllAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;

  const take = (probe: string, text: string | null): void => {
    if ((known.get(probe)?.text ?? null) === text) return;
    const access = readAccess(text);
    if (text === null) known.delete(probe);
    else known.set(probe, { text, access });
    for (const listener of listeners) listener(probe, access);
  };
  const readAll = async (ready: Redis): Promise<void> => {
    const startedAt = performance.now();
    // The position first, so that a concurrent change is read again.
    const [newest] = await ready.xrevrange(redisKeys.agentChanges, '+', '-', 'COUNT', 1);
    const all = await readHash(ready, redisKeys.agentAccess);
    for (const probe of known.keys()) if (all[probe] === undefined) take(probe, null);
    for (const [probe, text] of Object.entries(all)) take(probe, text);
    last = newest?.[0] ?? '0-0';
    readAllAt = startedAt;
  };
  const read = async (ready: Redis): Promise<void> => {
    if (last === undefined || performance.now() - readAllAt > READ_ALL_EVERY_MS) return readAll(ready);
    const entries = await ready.xrange(redisKeys.agentChanges, `(${last}`, '+', 'COUNT', MOST_CHANGES);
    if (entries.length === 0) return;
    if (entries.length === MOST_CHANGES) return readAll(ready);
    const probes = [...new Set(entries.map(([, fields]) => fields[1] ?? ''))];
    const texts = await ready.hmget(redisKeys.agentAccess, ...probes);
    for (const [index, probe] of probes.entries()) take(probe, texts[index] ?? null);
    last = entries.at(-1)![0];
  };
  const lookOnce = async (): Promise<void> => {
    try {
      await onStore(redis, read);
    } catch (error) {
      // After an outage the stream may be shorter than the known position.
      last = undefined;
      throw error;
    }
  };
  let again = false;
  const look = async (): Promise<void> => {
    do {
      again = false;
      await lookOnce();
    } while (again);
  };
  return {
    of: (probeId) => known.get(probeId)?.access ?? NO_ACCESS,
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    look: () => {
      // A change announced during a read may be missing from it.
      again = looking !== undefined;
      looking ??= look().finally(() => {
        looking = undefined;
      });
      return looking;
    },
  };
}
