import { redisKeys, type ProbeRecord } from '@vantage/contract';
import { isCluster } from '@vantage/redis-connections';
import type { Redis } from 'ioredis';

import type { RedisClock } from '../../redis/clock.ts';
import type { Log } from '../../redis/log.ts';
import { readHash } from '../../redis/read-hash.ts';
import { onStore } from '../../redis/store.ts';
import type { WriteWatch } from '../../redis/server-state/write-watch.ts';
import type { ExcessWatch } from '../access/excess-watch.ts';
import { MOST_KEPT, type KeptJobs } from '../access/kept-jobs.ts';
import type { AccessWatch } from '../enrolment/access-watch.ts';
import { entryOf, marksToWrite, type ProbeEntry, type ReadProbe, type Seen } from './probe-entry.ts';
import { createGatewayLives } from './gateway-lives.ts';
import { createKnownProbes, type KnownProbes } from './known-probes.ts';
import { marksOf } from './probe-records.ts';
import { createRecordCache, type RecordCache } from './record-cache.ts';
import type { KnownProbe } from './probe-status.ts';
import type { ProbeValidators } from './probe-validators.ts';
import { findAny, readProbes, type WantedReading } from './reading/read-probes.ts';
import { createReadingTurns, MOST_IN_ROTATION, windowOf } from './reading/reading-turns.ts';
import { createUntakenJobs } from './untaken-jobs.ts';

/** Validity of the cached probes; longer than the interval of the background refresh. */
const FRESH_MS = 1_500;

/** Gap between two reads after which a probe may have left and returned unnoticed. */
const LOOKING_MS = 15_000;

/** Minimum change of `lastSeen` that is written. */
const SEEN_STEP_MS = 2_000;

/** Time for which announced changes are collected, because an agent can announce any number. */
const GATHER_MS = 100;

/** Each probe is read at least once in this many refreshes, of which about one takes place per second. */
const READ_ALL_WITHIN_READINGS = 300;

const REFUSED_WRITES = 'Redis refuses writes: no check can start and no result is kept.';

/** Known probes, as of the last reads. */
export interface ProbeDirectory {
  /** @throws StoreUnavailable */
  readonly probes: () => Promise<readonly KnownProbe[]>;
  /** Reads what may have changed, and stores when probes were last seen. Concurrent calls share one read. */
  readonly refresh: () => Promise<readonly KnownProbe[]>;
  /** True if Redis had probe records before and has none now. */
  readonly isEmptied: () => boolean;
  /** Grows with every change of the list of probes or of suspensions that a refresh finds. */
  readonly changes: () => number;
  /** Ids as of the last read, however old. */
  readonly ids: () => ReadonlySet<string>;
  /** Probes whose result streams had entries at the last read. */
  readonly withEntries: () => readonly string[];
  /** Schedules a read of a probe whose agent announced a change. */
  readonly noteChanged: (probe: string) => void;
  /** Makes the next refresh read all probes, because announcements may have been lost. */
  readonly noteAllChanged: () => void;
  /** For this long, these probes count as active, because they may have jobs and results. */
  readonly noteActive: (probes: readonly string[], forMs: number) => void;
}

export interface ProbeDirectoryDependencies {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly validators: ProbeValidators;
  readonly access: Pick<AccessWatch, 'of' | 'onChange'>;
  readonly writes: Pick<WriteWatch, 'refusal'>;
  /** Counts heartbeats above the size limit. */
  readonly oversize: ExcessWatch;
  readonly keptJobs: KeptJobs;
  readonly log: Log;
}

export function createProbeDirectory(dependencies: ProbeDirectoryDependencies): ProbeDirectory {
  return new Directory(dependencies);
}

class Directory implements ProbeDirectory {
  private readonly dependencies: ProbeDirectoryDependencies;
  private readonly turns = createReadingTurns();
  private readonly untaken = createUntakenJobs();
  private readonly lives = createGatewayLives();
  /** Probes whose turn it is in the rotation that reads every probe, whatever its state. */
  private readonly inTurn = new Set<string>();
  private nextTurn = 0;
  private nextLooked = 0;
  private readonly entries = new Map<string, ProbeEntry>();
  /** Probes whose result streams had entries at their last read. */
  private readonly filled = new Set<string>();
  private readonly described: KnownProbes;
  private readonly records: RecordCache;
  private listed: readonly ProbeRecord[] = [];
  private known: readonly KnownProbe[] = [];
  private idsRead: ReadonlySet<string> = new Set();
  private idList: readonly string[] = [];
  private seen: Record<string, string> = {};
  private hasReadSeen = false;
  private off: Seen = Object.create(null) as Seen;
  private readAt = Number.NEGATIVE_INFINITY;
  /** Time of the previous read by the clock of Redis. */
  private lookedMs = Number.NEGATIVE_INFINITY;
  private reading: Promise<readonly KnownProbe[]> | undefined;
  private soon: NodeJS.Timeout | undefined;
  private emptied = false;
  private changed = 0;
  /** True if the enrolment of an agent has changed since the probes were described. */
  private hasOldAccess = false;

  constructor(dependencies: ProbeDirectoryDependencies) {
    this.dependencies = dependencies;
    const { access, validators } = dependencies;
    this.records = createRecordCache(validators);
    this.described = createKnownProbes(access.of);
    access.onChange((id) => {
      this.described.noteChanged(id);
      this.hasOldAccess = true;
    });
  }

  readonly ids: ProbeDirectory['ids'] = () => this.idsRead;

  readonly changes: ProbeDirectory['changes'] = () => this.changed;

  readonly isEmptied: ProbeDirectory['isEmptied'] = () => this.emptied;

  readonly withEntries: ProbeDirectory['withEntries'] = () => [...this.filled];

  readonly probes: ProbeDirectory['probes'] = async () => {
    if (performance.now() - this.readAt > FRESH_MS) return this.refresh();
    if (this.hasOldAccess) this.describe(this.lookedMs);
    return this.known;
  };

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
    // If this read fails, the next refresh reads the changed probes.
    this.soon ??= setTimeout(() => {
      this.soon = undefined;
      onStore(this.dependencies.redis, () => this.readChanged()).catch(() => undefined);
    }, GATHER_MS).unref();
  };

  readonly noteAllChanged: ProbeDirectory['noteAllChanged'] = () => {
    for (const probe of this.idsRead) this.turns.noteChanged(probe);
  };

  private async read(): Promise<readonly KnownProbe[]> {
    const { redis, clock, log } = this.dependencies;
    const startedAt = performance.now();
    const gateways = new Set<string>();
    for (const { gateway } of this.entries.values()) if (gateway !== undefined) gateways.add(gateway);
    const [nowMs, records, seen, off] = await Promise.all([
      clock.now(redis),
      this.records.read(redis),
      this.readSeen(),
      readHash(redis, redisKeys.suspended),
      this.lives.read(redis, gateways),
    ]);
    const wasLooking = nowMs - this.lookedMs < LOOKING_MS;
    this.lookedMs = nowMs;
    this.seen = seen;
    this.hasReadSeen = true;
    if (!isSameHash(this.off, off)) {
      this.off = off;
      this.changed += 1;
    }
    const isEmpty = records.length === 0 && (this.idsRead.size > 0 || this.emptied);
    if (isEmpty && !this.emptied) log.error({ probes: this.idsRead.size }, 'Redis has the record of no probe any more');
    this.emptied = isEmpty;
    if (this.listed !== records) this.list(records);
    await this.take(await this.due(), nowMs, wasLooking);
    this.readAt = startedAt;
    return this.known;
  }

  /**
   * Reads when probes were last seen: all of them at first and if there are at most `MOST_IN_ROTATION`, otherwise that
   * many in rotation, while the others keep the times that are known here.
   */
  private async readSeen(): Promise<Record<string, string>> {
    const { redis } = this.dependencies;
    if (!this.hasReadSeen || this.idList.length <= MOST_IN_ROTATION) return readHash(redis, redisKeys.lastSeen);
    const window = windowOf(this.idList, this.nextLooked, MOST_IN_ROTATION);
    const fields = window.flatMap((id) => [id, ...marksOf(id)]);
    const values = await redis.hmget(redisKeys.lastSeen, ...fields);
    for (const [index, field] of fields.entries()) {
      const value = values[index] ?? null;
      if (value === null) delete this.seen[field];
      else this.seen[field] = value;
    }
    for (const id of window) this.described.noteChanged(id);
    return this.seen;
  }

  private list(records: readonly ProbeRecord[]): void {
    this.changed += 1;
    this.listed = records;
    this.idList = records.map(({ id }) => id);
    this.idsRead = new Set(this.idList);
    for (const id of this.entries.keys()) if (!this.idsRead.has(id)) this.forget(id);
  }

  private async readChanged(): Promise<void> {
    const { redis, clock } = this.dependencies;
    // A read in progress may predate the change.
    await this.reading;
    const changed = [...this.turns.changed()].filter((id) => this.idsRead.has(id));
    const wanted = changed.map((id) => ({ id, hasNoJobs: false }));
    if (wanted.length > 0) await this.take(wanted, await clock.now(redis), true);
  }

  private async due(): Promise<readonly WantedReading[]> {
    const { redis } = this.dependencies;
    const ids = this.idList;
    this.chooseInTurn(ids);
    const due = new Set([...this.inTurn, ...this.turns.due(ids, (id) => this.entries.get(id))]);
    if (isCluster(redis)) return [...due].map((id) => ({ id, hasNoJobs: false }));
    const looked = new Set([...windowOf(ids, this.nextLooked, MOST_IN_ROTATION), ...due]);
    this.nextLooked = (this.nextLooked + MOST_IN_ROTATION) % Math.max(ids.length, 1);
    const settled: string[] = [];
    const silent: string[] = [];
    for (const id of looked) {
      const entry = this.entries.get(id);
      if (entry?.isSettled === true && entry.probe.alive) settled.push(id);
      // A heartbeat that a gateway wrote outlives the gateway, so its existence does not show that the probe is back;
      // the agent's next gateway announces that.
      if (!due.has(id) && entry?.probe.alive !== true && entry?.gateway === undefined) silent.push(id);
    }
    const [returned, withJobs] = await Promise.all([
      findAny(redis, 'heartbeat', silent),
      findAny(redis, 'jobs', settled),
    ]);
    const withoutJobs = new Set(settled);
    for (const id of withJobs) withoutJobs.delete(id);
    return [...new Set([...due, ...returned, ...withJobs])].map((id) => ({ id, hasNoJobs: withoutJobs.has(id) }));
  }

  /** Reads probes, and stores when they were seen. */
  private async take(wanted: readonly WantedReading[], nowMs: number, wasLooking: boolean): Promise<void> {
    const { redis, oversize, keptJobs } = this.dependencies;
    const { seen, untaken, lives } = this;
    const atMs = performance.now();
    const readings = await this.readingsOf(wanted);
    const pairs: (string | number)[] = [];
    for (const [index, { id }] of wanted.entries()) {
      const reading = readings[index]!;
      if (reading.isOversized) {
        oversize.note(id);
        // Two oversized heartbeats suspend the agent's user, so the next refresh must read this probe again.
        this.turns.noteChanged(id);
      }
      if (reading.active > MOST_KEPT) keptJobs.note(id);
      const entry = entryOf(id, reading, this.entries.get(id), { untaken, lives, seen, nowMs, wasLooking, atMs });
      this.entries.set(id, entry);
      this.described.noteChanged(id);
      if (entry.entries > 0) this.filled.add(id);
      else this.filled.delete(id);
      this.turns.wasRead(id, atMs);
      const { lastSeenMs = 0 } = entry.probe;
      if (lastSeenMs - Number(seen[id] ?? 0) >= SEEN_STEP_MS)
        pairs.push(id, lastSeenMs, ...marksToWrite(id, entry, seen));
    }
    this.describe(nowMs);
    // If Redis refuses the write, for lack of memory, the list is still correct: only the stored times get older.
    for (let index = 0; index < pairs.length; index += 2) this.seen[pairs[index]!] = String(pairs[index + 1]);
    if (pairs.length > 0) await redis.hset(redisKeys.lastSeen, ...pairs).catch(() => undefined);
  }

  /** Reads probes; reuses the last reading of a probe whose gateway announces every change. */
  private async readingsOf(wanted: readonly WantedReading[]): Promise<readonly ReadProbe[]> {
    const { redis, validators } = this.dependencies;
    const unchanged = new Map<string, ReadProbe>();
    for (const { id, hasNoJobs } of wanted) {
      const entry = this.entries.get(id);
      if (entry !== undefined && hasNoJobs && this.isUnchanged(id, entry)) {
        const { text, read: heartbeat, entries } = entry;
        const reading = { leftMs: 0, isOversized: false, waiting: 0, active: 0, oldest: null };
        unchanged.set(id, { ...reading, text, heartbeat, entries });
      }
    }
    this.inTurn.clear();
    const others = wanted.filter(({ id }) => !unchanged.has(id));
    const read = new Map<string, ReadProbe>();
    for (const [index, reading] of (await readProbes(redis, others)).entries()) {
      const { id } = others[index]!;
      const { text } = reading;
      const before = this.entries.get(id);
      const isSame = text !== undefined && text === before?.text;
      const heartbeat = isSame ? before?.read : text === undefined ? undefined : validators.readHeartbeat(text);
      read.set(id, { ...reading, heartbeat });
    }
    await this.lives.readUnknown(
      redis,
      [...read.values()].flatMap(({ heartbeat }) => heartbeat?.gateway?.id ?? []),
    );
    return wanted.map(({ id }) => unchanged.get(id) ?? read.get(id)!);
  }

  private isUnchanged(id: string, { isSettled, gateway }: ProbeEntry): boolean {
    if (!isSettled || gateway === undefined || this.lives.leftMs(gateway) <= 0) return false;
    return !this.turns.hasNews(id) && !this.inTurn.has(id);
  }

  /** Adds probes to `inTurn` in rotation, because announcements of changes can be lost. */
  private chooseInTurn(ids: readonly string[]): void {
    const count = Math.ceil(ids.length / READ_ALL_WITHIN_READINGS);
    for (let index = 0; index < count; index += 1) this.inTurn.add(ids[(this.nextTurn + index) % ids.length]!);
    this.nextTurn = ids.length === 0 ? 0 : (this.nextTurn + count) % ids.length;
  }

  private describe(nowMs: number): void {
    const { writes } = this.dependencies;
    const storeFault = writes.refusal() === undefined ? undefined : REFUSED_WRITES;
    const { listed: records, entries, seen, off } = this;
    this.hasOldAccess = false;
    this.known = this.described.update({ records, entries, seen, off, storeFault, nowMs });
  }

  private forget(id: string): void {
    this.entries.delete(id);
    this.filled.delete(id);
    delete this.seen[id];
    this.turns.forget(id);
  }
}

function isSameHash(one: Seen, other: Seen): boolean {
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}
