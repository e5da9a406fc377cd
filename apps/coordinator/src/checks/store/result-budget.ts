import { redisKeys } from '@vantage/contract';
import { mastersOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import type { Log } from '../../redis/log.ts';
import { runScript } from '../../redis/scripts.ts';
import { onStore } from '../../redis/store.ts';
import { familyOf } from './check-records.ts';
import type { Counters } from './counters.ts';
import { REMOVED_BYTES, type StoredCheck } from './stored-bytes.ts';
import { OVER_BUDGET } from '../../redis/store-errors.ts';
import { dropScript, evictScript, forgetScript, noteScript } from './result-budget-scripts.ts';

export interface BudgetStatus {
  readonly bytes: number;
  readonly bulkiestClientBytes: number;
  readonly maxBytes: number;
  readonly maxClientBytes: number;
}

/** Bounds the memory of the results of all checks, and of those of one client. */
export interface ResultBudget {
  /** Adds a completed check with the next look, then calls `onNoted`. */
  readonly note: (id: string, stored: StoredCheck) => void;
  /**
   * Adds the queued checks, and removes the oldest checks of the largest clients if a limit is exceeded.
   *
   * @returns true if there may be more to remove
   * @throws if Redis does not reply; the queued checks then wait for the next look
   */
  readonly look: () => Promise<boolean>;
  /** Status at the last measurement. */
  readonly status: () => BudgetStatus;
}

export interface ResultBudgetOptions {
  readonly redis: Redis;
  /**
   * Maximum bytes of the results of all checks, and of one client; by default a half and an eighth of Redis'
   * `maxmemory`.
   */
  readonly maxBytes?: number | undefined;
  readonly maxClientBytes?: number | undefined;
  /** Longest retention of a check, milliseconds. */
  readonly keptMs: number;
  readonly counters: Counters;
  /** Called for each check that is counted: only then is it safe to forget that it has been completed. */
  readonly onNoted: (id: string) => void;
  readonly log: Log;
}

/** Default if Redis has no `maxmemory`. */
const DEFAULT_BYTES = 512 * 1_048_576;
const MAXMEMORY_EVERY_MS = 60_000;
const WARN_EVERY_MS = 60_000;
/** Checks per script run. */
const AT_ONCE = 500;
/** Records of evicted checks may take this fraction of the budget, both in total and per client. */
const PART_OF_REMOVED = 64;

/** Interval of looks while no check is added: they are needed because checks expire. */
const IDLE_EVERY_MS = 5_000;

export function createResultBudget(options: ResultBudgetOptions): ResultBudget {
  const { redis, keptMs, counters, onNoted, log } = options;
  let noted: { readonly id: string; readonly stored: StoredCheck }[] = [];
  let last: BudgetStatus = { bytes: 0, bulkiestClientBytes: 0, maxBytes: 0, maxClientBytes: 0 };
  let askedAt = Number.NEGATIVE_INFINITY;
  let memory = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let warnedAt = Number.NEGATIVE_INFINITY;
  // After a failover the new server may lack these completions. Those that it has are added again at their deadline.
  redis.on('close', () => (noted = []));

  const bounds = async (): Promise<{ readonly maxBytes: number; readonly maxClientBytes: number }> => {
    if (options.maxBytes === undefined && performance.now() - askedAt > MAXMEMORY_EVERY_MS) {
      memory = await maxMemory(redis);
      askedAt = performance.now();
    }
    const maxBytes = options.maxBytes ?? (memory === 0 ? DEFAULT_BYTES : Math.floor(memory / 2));
    return { maxBytes, maxClientBytes: Math.min(maxBytes, options.maxClientBytes ?? Math.floor(maxBytes / 4)) };
  };

  const evict = async (victims: readonly Victim[]): Promise<void> => {
    const ids = victims.map(({ id }) => id);
    const replies = await Promise.all(ids.map((id) => runScript(redis, evictScript, familyOf(id), [OVER_BUDGET])));
    const digests = replies.filter((reply) => typeof reply === 'string');
    // The results are gone, so a repeated request with the key must start a new check.
    const keys = digests.filter((digest) => digest !== '').map((digest) => redisKeys.idempotencyRecord(digest));
    await Promise.all(keys.map((key) => redis.unlink(key)));
    await boundRemoved(victims);
    await runScript(redis, forgetScript, [redisKeys.resultAccounting], ids);
    counters.checksEvicted += digests.length;
    if (performance.now() - warnedAt < WARN_EVERY_MS) return;
    warnedAt = performance.now();
    log.warn(
      { ...last, evicted: counters.checksEvicted },
      'result budget exceeded: oldest checks of the bulkiest clients removed',
    );
  };

  /** Records of evicted checks are bounded by the same rules as results. */
  const boundRemoved = async (victims: readonly Victim[]): Promise<void> => {
    const { maxBytes, maxClientBytes } = last;
    const ledger = [redisKeys.removedAccounting];
    const bounds = [maxBytes, maxClientBytes].map((bytes) => Math.floor(bytes / PART_OF_REMOVED));
    const values = victims.flatMap(({ id, client }) => [id, REMOVED_BYTES, client]);
    const dropped = victimsIn(await runScript(redis, noteScript, ledger, [...bounds, keptMs, ...values]));
    if (dropped.length === 0) return;
    await Promise.all(dropped.map(({ id }) => runScript(redis, dropScript, [redisKeys.check(id)], [])));
    await runScript(
      redis,
      forgetScript,
      ledger,
      dropped.map(({ id }) => id),
    );
  };

  return {
    note: (id, stored) => void noted.push({ id, stored }),
    status: () => last,
    look: async () => {
      if (noted.length === 0 && performance.now() - lookedAt < IDLE_EVERY_MS) return false;
      return onStore(redis, async () => {
        const { maxBytes, maxClientBytes } = await bounds();
        const now = noted.slice(0, AT_ONCE);
        const values = now.flatMap(({ id, stored: { bytes, client } }) => [id, bytes, client]);
        const reply = await runScript(
          redis,
          noteScript,
          [redisKeys.resultAccounting],
          [maxBytes, maxClientBytes, keptMs, ...values],
        );
        const [bytes, bulkiestClientBytes] = reply as [number, number];
        const victims = victimsIn(reply);
        noted = noted.slice(now.length);
        for (const { id } of now) onNoted(id);
        last = { bytes, bulkiestClientBytes, maxBytes, maxClientBytes };
        if (victims.length > 0) await evict(victims);
        else lookedAt = performance.now();
        return victims.length > 0 || noted.length > 0;
      });
    },
  };
}

interface Victim {
  readonly id: string;
  readonly client: string;
}

/** Parses the checks selected by `noteScript`. */
function victimsIn(reply: unknown): readonly Victim[] {
  const [, , ...named] = reply as [number, number, ...string[]];
  return Array.from({ length: named.length / 2 }, (_, index) => ({
    id: named[2 * index]!,
    client: named[2 * index + 1]!,
  }));
}

/** Sum over all masters; 0 if one has no limit. */
async function maxMemory(redis: Redis): Promise<number> {
  const infos = await Promise.all(mastersOf(redis).map((master) => master.info('memory')));
  const each = infos.map((info) => Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0));
  return each.includes(0) ? 0 : each.reduce((sum, bytes) => sum + bytes, 0);
}
