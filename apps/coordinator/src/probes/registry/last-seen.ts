import { redisKeys } from '@vantage/contract';
import type { Redis } from 'ioredis';

import { readHash } from '../../redis/read-hash.ts';
import type { ProbeEntry, Seen } from './probe-entry.ts';
import { marksOf } from './probe-records.ts';
import { MOST_IN_ROTATION } from './reading/reading-turns.ts';

/*
 * The hash of last-seen times also contains the run of each agent and when that run returned after a silence, so that
 * all coordinators agree, whichever of them noticed it.
 */

/** Minimum change of a time that is written. */
const STEP_MS = 2_000;

/** A probe that returns after a silence counts as stable after this time. */
const STEADY_AFTER_MS = 6_000;

/** Times at which probes were last seen: this coordinator's copy of the hash in Redis. */
export class LastSeen {
  private hash: Record<string, string> = {};
  private hasRead = false;

  /** A new object after each read of the whole hash. */
  get times(): Seen {
    return this.hash;
  }

  /**
   * Reads the whole hash at first and if there are at most `MOST_IN_ROTATION` probes, otherwise the times of these ids,
   * while the others keep the times that are known here.
   *
   * @returns the ids whose times were replaced in `times`; none if it is a new object
   */
  async read(redis: Redis, probes: number, ids: readonly string[]): Promise<readonly string[]> {
    if (!this.hasRead || probes <= MOST_IN_ROTATION) {
      this.hash = await readHash(redis, redisKeys.lastSeen);
      this.hasRead = true;
      return [];
    }
    const fields = ids.flatMap((id) => [id, ...marksOf(id)]);
    const values = await redis.hmget(redisKeys.lastSeen, ...fields);
    for (const [index, field] of fields.entries()) {
      const value = values[index] ?? null;
      if (value === null) delete this.hash[field];
      else this.hash[field] = value;
    }
    return ids;
  }

  /** Fields to write after a read of a probe: its time, unless it has hardly changed, and its marks. */
  changesBy(id: string, entry: ProbeEntry): readonly (string | number)[] {
    const { lastSeenMs = 0 } = entry.probe;
    if (lastSeenMs - Number(this.hash[id] ?? 0) < STEP_MS) return [];
    return [id, lastSeenMs, ...marksToWrite(id, entry, this.hash)];
  }

  /** @param changes fields and their values in turn */
  async write(redis: Redis, changes: readonly (string | number)[]): Promise<void> {
    for (let index = 0; index < changes.length; index += 2) this.hash[changes[index]!] = String(changes[index + 1]);
    // If Redis refuses the write, for lack of memory, only the stored times get older.
    if (changes.length > 0) await redis.hset(redisKeys.lastSeen, ...changes).catch(() => undefined);
  }

  forget(id: string): void {
    delete this.hash[id];
  }
}

/** The marks to write after a read. A new run of an agent is no return; the same run after a silence is. */
function marksToWrite(id: string, { probe, isReturn }: ProbeEntry, seen: Seen): readonly (string | number)[] {
  const { heartbeat, lastSeenMs } = probe;
  if (heartbeat === undefined || lastSeenMs === undefined) return [];
  const [run, back] = marksOf(id);
  return [
    ...(isReturn ? [back, lastSeenMs] : []),
    ...(seen[run] === heartbeat.instance ? [] : [run, heartbeat.instance]),
  ];
}

/**
 * True for a live probe that has returned at this read (`isReturn`), or whose current run some coordinator saw return
 * less than `STEADY_AFTER_MS` ago.
 */
export function isJustBack(id: string, { probe, isReturn }: ProbeEntry, seen: Seen, nowMs: number): boolean {
  const [run, back] = marksOf(id);
  const isNoted =
    nowMs - Number(seen[back] ?? 0) < STEADY_AFTER_MS &&
    seen[run] !== undefined &&
    seen[run] === probe.heartbeat?.instance;
  return probe.alive && (isReturn || isNoted);
}
