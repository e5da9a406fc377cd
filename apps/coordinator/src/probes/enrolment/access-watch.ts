import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { readHash } from '../../redis/read-hash.ts';
import { onStore } from '../../redis/store.ts';
import { NO_ACCESS, readAccess, type AgentAccess } from './agent-access.ts';

/** Interval of polls, because notifications of changes can be lost. */
export const POLL_INTERVAL_MS = 500;
/**
 * Everything is read again at this interval, because a replica that lacks the last changes may have become the master.
 */
const READ_ALL_EVERY_MS = 30_000;
/** Number of changes from which all entries are read. */
const MOST_CHANGES = 500;

export type OnAccess = (probeId: string, access: AgentAccess) => void;

/** Access of every agent that was invited and not removed, as of the last read. */
export interface AccessWatch {
  readonly of: (probeId: string) => AgentAccess;
  /** Calls the listener for every change that a read finds, also a removal, until the returned function is called. */
  readonly onChange: (listener: OnAccess) => () => void;
  /**
   * Reads the changes. A call during a read causes one further read; both end after it.
   *
   * @throws StoreUnavailable
   */
  readonly poll: () => Promise<void>;
}

interface Known {
  readonly text: string;
  readonly access: AgentAccess;
}

export function createAccessWatch(redis: Redis): AccessWatch {
  return new RedisAccessWatch(redis);
}

class RedisAccessWatch implements AccessWatch {
  private readonly redis: Redis;
  private readonly known = new Map<string, Known>();
  private readonly listeners = new Set<OnAccess>();
  /** Position in the stream of changes; undefined if everything must be read. */
  private last: string | undefined;
  private readAllAt = Number.NEGATIVE_INFINITY;
  private polling: Promise<void> | undefined;
  private again = false;

  constructor(redis: Redis) {
    this.redis = redis;
  }

  readonly of = (probeId: string): AgentAccess => this.known.get(probeId)?.access ?? NO_ACCESS;

  readonly onChange = (listener: OnAccess): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  readonly poll = (): Promise<void> => {
    // A change announced during a read may be missing from it.
    this.again = this.polling !== undefined;
    this.polling ??= this.pollUntilDone().finally(() => {
      this.polling = undefined;
    });
    return this.polling;
  };

  private async pollUntilDone(): Promise<void> {
    do {
      this.again = false;
      await this.lookOnce();
    } while (this.again);
  }

  private async lookOnce(): Promise<void> {
    try {
      await onStore(this.redis, (ready) => this.read(ready));
    } catch (error) {
      // After an outage the stream may end before the known position.
      this.last = undefined;
      throw error;
    }
  }

  private async read(ready: Redis): Promise<void> {
    if (this.last === undefined || performance.now() - this.readAllAt > READ_ALL_EVERY_MS) return this.readAll(ready);
    const entries = await ready.xrange(redisKeys.agentChanges, `(${this.last}`, '+', 'COUNT', MOST_CHANGES);
    if (entries.length === 0) return;
    if (entries.length === MOST_CHANGES) return this.readAll(ready);
    const probes = [...new Set(entries.map(([, fields]) => fields[1] ?? ''))];
    const texts = await ready.hmget(redisKeys.agentAccess, ...probes);
    for (const [index, probe] of probes.entries()) this.take(probe, texts[index] ?? null);
    this.last = entries.at(-1)![0];
  }

  private async readAll(ready: Redis): Promise<void> {
    const startedAt = performance.now();
    // Reads the position first, so that a concurrent change is read again.
    const [newest] = await ready.xrevrange(redisKeys.agentChanges, '+', '-', 'COUNT', 1);
    const all = await readHash(ready, redisKeys.agentAccess);
    for (const probe of this.known.keys()) if (all[probe] === undefined) this.take(probe, null);
    for (const [probe, text] of Object.entries(all)) this.take(probe, text);
    this.last = newest?.[0] ?? '0-0';
    this.readAllAt = startedAt;
  }

  private take(probe: string, text: string | null): void {
    if ((this.known.get(probe)?.text ?? null) === text) return;
    const access = readAccess(text);
    if (text === null) this.known.delete(probe);
    else this.known.set(probe, { text, access });
    for (const listener of this.listeners) listener(probe, access);
  }
}
