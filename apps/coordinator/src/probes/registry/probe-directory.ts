import { redisKeys, type ProbeRecord } from '@vantage/contract';
import { isCluster } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import type { RedisClock } from '../../redis/clock.ts';
import type { Log } from '../../redis/log.ts';
import { readHash } from '../../redis/read-hash.ts';
import { onStore } from '../../redis/store.ts';
import type { WriteWatch } from '../../redis/server-state/write-watch.ts';
import type { OversizeWatch } from '../access/oversize-watch.ts';
import type { AccessWatch } from '../enrolment/access-watch.ts';
import { entryOf, isJustBack, marksToWrite, type ProbeEntry, type Seen } from './probe-entry.ts';
import { createRecordCache, type RecordCache } from './record-cache.ts';
import type { KnownProbe } from './probe-status.ts';
import type { ProbeValidators } from './probe-validators.ts';
import { findAny, readProbes, type WantedReading } from './read-probes.ts';
import { createReadingTurns } from './reading-turns.ts';
import { createUntakenJobs } from './untaken-jobs.ts';

/** What is read of the probes serves this long: more than the second from one reading in the background to the next. */
const FRESH_MS = 1_500;

/** Longer without a reading, and a probe may have left and come back unseen. */
const LOOKING_MS = 15_000;

/** `lastSeen` is written when it has moved by this much. */
const SEEN_STEP_MS = 2_000;

/** Changes that are announced are read together, this long after the first: an agent announces as many as it likes. */
const GATHER_MS = 100;

/** What is noted of up to so many probes is read each time; of more, of a thousand a second. */
const MANY = 2_000;

const REFUSED_WRITES = 'Redis refuses writes: no check can start and no result is kept.';

/** What is known of the probes, as old as the last reading in the background. */
export interface ProbeDirectory {
  /** @throws StoreUnavailable */
  readonly probes: () => Promise<readonly KnownProbe[]>;
  /** Reads what may have changed, and keeps when each probe was last seen. Calls at the same time share one reading. */
  readonly refresh: () => Promise<readonly KnownProbe[]>;
  /** True if Redis had records of probes and has none now: it was emptied. */
  readonly isEmptied: () => boolean;
  /** The ids as last read, however long ago. */
  readonly ids: () => ReadonlySet<string>;
  /** The probes whose result streams had entries when they were last read. */
  readonly withEntries: () => readonly string[];
  /** The heartbeat of a probe has changed, as its agent announces: it is read soon. */
  readonly noteChanged: (probe: string) => void;
  /** These probes have, or may soon have, jobs and results: for this long they are read with each refresh. */
  readonly noteActive: (probes: readonly string[], forMs: number) => void;
}

export interface ProbeDirectoryDependencies {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly validators: ProbeValidators;
  readonly access: Pick<AccessWatch, 'of'>;
  readonly writes: Pick<WriteWatch, 'refusal'>;
  readonly oversize: OversizeWatch;
  readonly log: Log;
}

export function createProbeDirectory(dependencies: ProbeDirectoryDependencies): ProbeDirectory {
  return new Directory(dependencies);
}

class Directory implements ProbeDirectory {
  private readonly dependencies: ProbeDirectoryDependencies;
  private readonly turns = createReadingTurns();
  private readonly untaken = createUntakenJobs();
  private readonly entries = new Map<string, ProbeEntry>();
  private readonly records: RecordCache;
  private listed: readonly ProbeRecord[] = [];
  private known: readonly KnownProbe[] = [];
  private idsRead: ReadonlySet<string> = new Set();
  private seen: Record<string, string> = {};
  private seenReadAt = Number.NEGATIVE_INFINITY;
  private off: Seen = {};
  private readAt = Number.NEGATIVE_INFINITY;
  /** When it was read before, by Redis' clock. */
  private lookedMs = Number.NEGATIVE_INFINITY;
  private reading: Promise<readonly KnownProbe[]> | undefined;
  private soon: NodeJS.Timeout | undefined;
  private emptied = false;

  constructor(dependencies: ProbeDirectoryDependencies) {
    this.dependencies = dependencies;
    this.records = createRecordCache(dependencies.validators);
  }

  readonly ids: ProbeDirectory['ids'] = () => this.idsRead;

  readonly isEmptied: ProbeDirectory['isEmptied'] = () => this.emptied;

  readonly withEntries: ProbeDirectory['withEntries'] = () =>
    [...this.entries].flatMap(([id, { entries }]) => (entries > 0 ? [id] : []));

  readonly probes: ProbeDirectory['probes'] = async () =>
    performance.now() - this.readAt <= FRESH_MS ? this.known : this.refresh();

  readonly refresh: ProbeDirectory['refresh'] = () => {
    this.reading ??= onStore(this.dependencies.redis, () => this.read()).finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  };

  readonly noteActive: ProbeDirectory['noteActive'] = (probes, forMs) => {
    for (const probe of probes) this.turns.noteActive(probe, forMs);
  };

  readonly noteChanged: ProbeDirectory['noteChanged'] = (probe) => {
    this.turns.noteChanged(probe);
    // Whatever fails is read by the next refresh.
    this.soon ??= setTimeout(() => {
      this.soon = undefined;
      onStore(this.dependencies.redis, () => this.readChanged()).catch(() => undefined);
    }, GATHER_MS).unref();
  };

  private async read(): Promise<readonly KnownProbe[]> {
    const { redis, clock, log } = this.dependencies;
    const startedAt = performance.now();
    const [nowMs, records, seen, off] = await Promise.all([
      clock.now(redis),
      this.records.read(redis),
      this.readSeen(),
      readHash(redis, redisKeys.suspended),
    ]);
    const wasLooking = nowMs - this.lookedMs < LOOKING_MS;
    this.lookedMs = nowMs;
    [this.listed, this.seen, this.off] = [records, seen, off];
    const isEmpty = records.length === 0 && (this.idsRead.size > 0 || this.emptied);
    if (isEmpty && !this.emptied) log.error({ probes: this.idsRead.size }, 'Redis has lost the records of all probes');
    this.emptied = isEmpty;
    this.idsRead = new Set(records.map(({ id }) => id));
    for (const id of this.entries.keys()) if (!this.idsRead.has(id)) this.forget(id);
    await this.take(await this.due(), nowMs, wasLooking);
    this.readAt = startedAt;
    return this.known;
  }

  /** Of very many probes less often: between two readings this coordinator knows what it saw itself. */
  private async readSeen(): Promise<Record<string, string>> {
    const everyMs = this.idsRead.size > MANY ? this.idsRead.size : 0;
    if (performance.now() - this.seenReadAt < everyMs) return this.seen;
    const seen = await readHash(this.dependencies.redis, redisKeys.lastSeen);
    this.seenReadAt = performance.now();
    return Object.assign(Object.create(null) as Record<string, string>, seen);
  }

  private async readChanged(): Promise<void> {
    const { redis, clock } = this.dependencies;
    // What is under way may have read a probe before it changed.
    await this.reading;
    const changed = this.listed.flatMap(({ id }) => (this.turns.hasChanged(id) ? [id] : []));
    const wanted = changed.map((id) => ({ id, hasNoJobs: false }));
    if (wanted.length > 0) await this.take(wanted, await clock.now(redis), true);
  }

  private async due(): Promise<readonly WantedReading[]> {
    const { redis } = this.dependencies;
    const ids = [...this.idsRead];
    const due = new Set(ids.filter((id) => this.turns.isDue(id, this.entries.get(id))));
    if (isCluster(redis)) return [...due].map((id) => ({ id, hasNoJobs: false }));
    const settled = ids.filter((id) => this.entries.get(id)?.isSettled === true && this.isAlive(id));
    const silent = ids.filter((id) => !due.has(id) && !this.isAlive(id));
    const [returned, withJobs] = await Promise.all([
      findAny(redis, 'heartbeat', silent),
      findAny(redis, 'jobs', settled),
    ]);
    const withoutJobs = new Set(settled);
    for (const id of withJobs) withoutJobs.delete(id);
    return [...new Set([...due, ...returned, ...withJobs])].map((id) => ({ id, hasNoJobs: withoutJobs.has(id) }));
  }

  /** Reads probes, and keeps when they were seen. */
  private async take(wanted: readonly WantedReading[], nowMs: number, wasLooking: boolean): Promise<void> {
    const { redis, validators, oversize } = this.dependencies;
    const { seen, untaken } = this;
    const atMs = performance.now();
    const readings = await readProbes(redis, wanted);
    const pairs: (string | number)[] = [];
    for (const [index, { id }] of wanted.entries()) {
      const reading = readings[index]!;
      if (reading.isOversized) oversize.note(id);
      const entry = entryOf(id, reading, this.entries.get(id), { validators, untaken, seen, nowMs, wasLooking, atMs });
      this.entries.set(id, entry);
      this.turns.wasRead(id, atMs);
      const { lastSeenMs = 0 } = entry.probe;
      if (lastSeenMs - Number(seen[id] ?? 0) >= SEEN_STEP_MS) pairs.push(id, lastSeenMs, ...marksToWrite(id, entry));
    }
    this.describe(nowMs);
    // Memory may be short: then the list is still right, and only what it remembers of a probe that leaves is older.
    for (let index = 0; index < pairs.length; index += 2) this.seen[pairs[index]!] = String(pairs[index + 1]);
    if (pairs.length > 0) await redis.hset(redisKeys.lastSeen, ...pairs).catch(() => undefined);
  }

  private describe(nowMs: number): void {
    const { access, writes } = this.dependencies;
    const storeFault = writes.refusal() === undefined ? undefined : REFUSED_WRITES;
    this.known = this.listed.flatMap((record): readonly KnownProbe[] => {
      const { id } = record;
      const entry = this.entries.get(id);
      if (entry === undefined) return [];
      const justBack = isJustBack(id, entry, this.seen, nowMs);
      return [{ record, ...entry.probe, justBack, switchedOff: this.off[id], access: access.of(id), storeFault }];
    });
  }

  private isAlive(id: string): boolean {
    return this.entries.get(id)?.probe.alive === true;
  }

  private forget(id: string): void {
    this.entries.delete(id);
    delete this.seen[id];
    this.turns.forget(id);
  }
}
