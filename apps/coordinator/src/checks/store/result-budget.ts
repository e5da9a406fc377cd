import { redisKeys } from '@vantage/contract';
import { mastersOf } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import type { Log } from '../../redis/log.ts';
import { runScript } from '../../redis/scripts.ts';
import { onStore } from '../../redis/store.ts';
import { checkKeys } from './records/check-records.ts';
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
  /** Queues a completed check for `poll`; `onNoted` is called once it is added. A lost connection empties the queue. */
  readonly note: (id: string, stored: StoredCheck) => void;
  /**
   * Adds queued checks, at most `AT_ONCE`, and removes the oldest checks of the largest clients if a limit is exceeded.
   *
   * @returns true if there may be more to add or remove
   * @throws if Redis does not reply, or replies with an error; checks not added stay queued while the connection lasts
   */
  readonly poll: () => Promise<boolean>;
  /** Status at the last measurement. */
  readonly status: () => BudgetStatus;
}

export interface ResultBudgetOptions {
  readonly redis: Redis;
  /** Maximum bytes of the results of all checks. Default: half of Redis' `maxmemory`, or `DEFAULT_BYTES`. */
  readonly maxBytes?: number | undefined;
  /** Maximum bytes of the results of one client. Default: a quarter of the maximum for all checks. */
  readonly maxClientBytes?: number | undefined;
  /** Longest time for which a check is counted, milliseconds. */
  readonly keptMs: number;
  readonly counters: Counters;
  /** Called for each check that is counted: only then is it safe to forget that it has been completed. */
  readonly onNoted: (id: string) => void;
  readonly log: Log;
}

/** Budget if Redis has no `maxmemory`. */
const DEFAULT_BYTES = 512 * 1_048_576;
const MAXMEMORY_EVERY_MS = 60_000;
const WARN_EVERY_MS = 60_000;
/** Most checks added per script run. */
const AT_ONCE = 500;
/** Records of evicted checks may take the budget divided by this number, both in total and per client. */
const PART_OF_REMOVED = 64;

/** Interval of measurements while no check is added: expiring checks free memory. */
const IDLE_EVERY_MS = 5_000;

export function createResultBudget(options: ResultBudgetOptions): ResultBudget {
  return new Budget(options);
}

type Bounds = Pick<BudgetStatus, 'maxBytes' | 'maxClientBytes'>;

class Budget implements ResultBudget {
  private readonly options: ResultBudgetOptions;
  private noted: { readonly id: string; readonly stored: StoredCheck }[] = [];
  private last: BudgetStatus = { bytes: 0, bulkiestClientBytes: 0, maxBytes: 0, maxClientBytes: 0 };
  /** Sum of `maxmemory` over all masters at the last read, bytes; 0 if one has no limit. */
  private memory = 0;
  private askedAt = Number.NEGATIVE_INFINITY;
  private polledAt = Number.NEGATIVE_INFINITY;
  private warnedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ResultBudgetOptions) {
    this.options = options;
    // After a failover the new server may lack these completions. Those that it has are added again at their deadline.
    options.redis.on('close', () => (this.noted = []));
  }

  readonly note = (id: string, stored: StoredCheck): void => void this.noted.push({ id, stored });

  readonly status = (): BudgetStatus => this.last;

  readonly poll = async (): Promise<boolean> => {
    if (this.noted.length === 0 && performance.now() - this.polledAt < IDLE_EVERY_MS) return false;
    return onStore(this.options.redis, async () => {
      const { maxBytes, maxClientBytes } = await this.bounds();
      const now = this.noted.slice(0, AT_ONCE);
      const values = now.flatMap(({ id, stored: { bytes, client } }) => [id, bytes, client]);
      const bounds = [maxBytes, maxClientBytes, this.options.keptMs];
      const ledger = [redisKeys.resultAccounting];
      const reply = await runScript(this.options.redis, noteScript, ledger, [...bounds, ...values]);
      const [bytes, bulkiestClientBytes] = reply as [number, number];
      const victims = victimsIn(reply);
      this.noted = this.noted.slice(now.length);
      for (const { id } of now) this.options.onNoted(id);
      this.last = { bytes, bulkiestClientBytes, maxBytes, maxClientBytes };
      if (victims.length > 0) await this.evict(victims);
      else this.polledAt = performance.now();
      return victims.length > 0 || this.noted.length > 0;
    });
  };

  private async bounds(): Promise<Bounds> {
    const { options } = this;
    if (options.maxBytes === undefined && performance.now() - this.askedAt > MAXMEMORY_EVERY_MS) {
      this.memory = await maxMemory(options.redis);
      this.askedAt = performance.now();
    }
    const maxBytes = options.maxBytes ?? (this.memory === 0 ? DEFAULT_BYTES : Math.floor(this.memory / 2));
    return { maxBytes, maxClientBytes: Math.min(maxBytes, options.maxClientBytes ?? Math.floor(maxBytes / 4)) };
  }

  private async evict(victims: readonly Victim[]): Promise<void> {
    const { redis, counters, log } = this.options;
    const ids = victims.map(({ id }) => id);
    const replies = await Promise.all(ids.map((id) => runScript(redis, evictScript, checkKeys(id), [OVER_BUDGET])));
    const digests = replies.filter((reply) => typeof reply === 'string');
    // The results are gone, so a repeated request with the key must start a new check.
    const keys = digests.filter((digest) => digest !== '').map((digest) => redisKeys.idempotencyRecord(digest));
    await Promise.all(keys.map((key) => redis.unlink(key)));
    await this.boundRemoved(victims);
    await runScript(redis, forgetScript, [redisKeys.resultAccounting], ids);
    counters.checksEvicted += digests.length;
    if (performance.now() - this.warnedAt < WARN_EVERY_MS) return;
    this.warnedAt = performance.now();
    log.warn(
      { ...this.last, evicted: counters.checksEvicted },
      'result budget exceeded: oldest checks of the bulkiest clients removed',
    );
  }

  /** Bounds the records of evicted checks by the rules for results, with limits divided by `PART_OF_REMOVED`. */
  private async boundRemoved(victims: readonly Victim[]): Promise<void> {
    const { redis, keptMs } = this.options;
    const { maxBytes, maxClientBytes } = this.last;
    const ledger = [redisKeys.removedAccounting];
    const bounds = [maxBytes, maxClientBytes].map((bytes) => Math.floor(bytes / PART_OF_REMOVED));
    const values = victims.flatMap(({ id, client }) => [id, REMOVED_BYTES, client]);
    const dropped = victimsIn(await runScript(redis, noteScript, ledger, [...bounds, keptMs, ...values]));
    if (dropped.length === 0) return;
    await Promise.all(dropped.map(({ id }) => runScript(redis, dropScript, [redisKeys.check(id)], [])));
    const ids = dropped.map(({ id }) => id);
    await runScript(redis, forgetScript, ledger, ids);
  }
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

/** Returns the sum of `maxmemory` over all masters, bytes; 0 if one of them has no limit. */
async function maxMemory(redis: Redis): Promise<number> {
  const infos = await Promise.all(mastersOf(redis).map((master) => master.info('memory')));
  const each = infos.map((info) => Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0));
  return each.includes(0) ? 0 : each.reduce((sum, bytes) => sum + bytes, 0);
}
