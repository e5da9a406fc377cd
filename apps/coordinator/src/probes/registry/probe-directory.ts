import { redisKeys, type ProbeRecord } from '@vantage/contract';
import type { Redis } from 'ioredis';

import type { RedisClock } from '../../redis/clock.ts';
import type { Log } from '../../redis/log.ts';
import { isSameHash, readHash } from '../../redis/read-hash.ts';
import { onStore } from '../../redis/store.ts';
import type { WriteWatch } from '../../redis/server-state/write-watch.ts';
import type { AccessWatch } from '../enrolment/access-watch.ts';
import { DueProbes } from './due-probes.ts';
import { createKnownProbes, type KnownProbes } from './known-probes.ts';
import { LastSeen } from './last-seen.ts';
import { ProbeEntries, type ProbeEntriesDependencies } from './probe-entries.ts';
import type { Seen } from './probe-entry.ts';
import { createRecordCache, type RecordCache } from './record-cache.ts';
import type { KnownProbe } from './probe-status.ts';
import type { ProbeValidators } from './probe-validators.ts';
import type { WantedReading } from './reading/read-probes.ts';

/** Validity of the cached probes; longer than the interval of the background refresh. */
const FRESH_MS = 1_500;

/** Gap between two reads after which a probe may have left and returned unnoticed. */
const POLLING_MS = 15_000;

/** Time for which announced changes are collected, because an agent can announce any number. */
const GATHER_MS = 100;

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
  /** Makes these probes count as active for a time, because they may have jobs and results. */
  readonly noteActive: (probes: readonly string[], forMs: number) => void;
  /** Calls back with each probe that a read finds removed. */
  readonly onRemoved: (listener: (probe: string) => void) => void;
}

export interface ProbeDirectoryDependencies extends Pick<ProbeEntriesDependencies, 'oversize' | 'keptJobs'> {
  readonly redis: Redis;
  readonly clock: RedisClock;
  readonly validators: ProbeValidators;
  readonly access: Pick<AccessWatch, 'of' | 'onChange'>;
  readonly writes: Pick<WriteWatch, 'refusal'>;
  readonly log: Log;
}

export function createProbeDirectory(dependencies: ProbeDirectoryDependencies): ProbeDirectory {
  return new Directory(dependencies);
}

class Directory implements ProbeDirectory {
  private readonly dependencies: ProbeDirectoryDependencies;
  private readonly due = new DueProbes();
  private readonly entries: ProbeEntries;
  private readonly lastSeen = new LastSeen();
  private readonly described: KnownProbes;
  private readonly records: RecordCache;
  private listed: readonly ProbeRecord[] = [];
  private known: readonly KnownProbe[] = [];
  private idsRead: ReadonlySet<string> = new Set();
  private idList: readonly string[] = [];
  private off: Seen = Object.create(null) as Seen;
  private readAt = Number.NEGATIVE_INFINITY;
  /** Time of the previous read by the clock of Redis. */
  private polledMs = Number.NEGATIVE_INFINITY;
  private reading: Promise<readonly KnownProbe[]> | undefined;
  private soon: NodeJS.Timeout | undefined;
  private emptied = false;
  private changed = 0;
  /** True if the enrolment of an agent has changed since the probes were described. */
  private hasOldAccess = false;

  constructor(dependencies: ProbeDirectoryDependencies) {
    this.dependencies = dependencies;
    const { access, validators } = dependencies;
    this.entries = new ProbeEntries({ ...dependencies, due: this.due });
    this.onRemoved((id) => this.lastSeen.forget(id));
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
  readonly onRemoved: ProbeDirectory['onRemoved'] = (listener) => this.entries.onForgotten(listener);
  readonly withEntries: ProbeDirectory['withEntries'] = () => [...this.entries.withResults];

  readonly probes: ProbeDirectory['probes'] = async () => {
    if (performance.now() - this.readAt > FRESH_MS) return this.refresh();
    if (this.hasOldAccess) this.describe(this.polledMs);
    return this.known;
  };

  readonly refresh: ProbeDirectory['refresh'] = () => {
    this.reading ??= onStore(this.dependencies.redis, () => this.read()).finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  };

  readonly noteActive: ProbeDirectory['noteActive'] = (probes, forMs) => {
    for (const probe of probes) this.due.turns.noteActive(probe, forMs);
  };

  readonly noteChanged: ProbeDirectory['noteChanged'] = (probe) => {
    this.due.turns.noteChanged(probe);
    // If this read fails, the next refresh reads the changed probes.
    this.soon ??= setTimeout(() => {
      this.soon = undefined;
      onStore(this.dependencies.redis, () => this.readChanged()).catch(() => undefined);
    }, GATHER_MS).unref();
  };

  readonly noteAllChanged: ProbeDirectory['noteAllChanged'] = () => {
    for (const probe of this.idsRead) this.due.turns.noteChanged(probe);
  };

  private async read(): Promise<readonly KnownProbe[]> {
    const { redis, clock, log } = this.dependencies;
    const startedAt = performance.now();
    const [nowMs, records, off, seenAgain] = await Promise.all([
      clock.now(redis),
      this.records.read(redis),
      readHash(redis, redisKeys.suspended),
      this.lastSeen.read(redis, this.idList.length, this.due.window(this.idList)),
      this.entries.readGateways(),
    ]);
    const wasPolling = nowMs - this.polledMs < POLLING_MS;
    this.polledMs = nowMs;
    for (const id of seenAgain) this.described.noteChanged(id);
    if (!isSameHash(this.off, off)) {
      this.off = off;
      this.changed += 1;
    }
    const isEmpty = records.length === 0 && (this.idsRead.size > 0 || this.emptied);
    if (isEmpty && !this.emptied) log.error({ probes: this.idsRead.size }, 'Redis has the record of no probe any more');
    this.emptied = isEmpty;
    if (this.listed !== records) this.list(records);
    await this.take(await this.due.select(redis, this.idList, this.entries.byId), nowMs, wasPolling);
    this.readAt = startedAt;
    return this.known;
  }

  private list(records: readonly ProbeRecord[]): void {
    this.changed += 1;
    this.listed = records;
    this.idList = records.map(({ id }) => id);
    this.idsRead = new Set(this.idList);
    for (const id of this.entries.byId.keys()) if (!this.idsRead.has(id)) this.entries.forget(id);
  }

  private async readChanged(): Promise<void> {
    const { redis, clock } = this.dependencies;
    // A read in progress may predate the change.
    await this.reading;
    const changed = [...this.due.turns.changed()].filter((id) => this.idsRead.has(id));
    const wanted = changed.map((id) => ({ id, hasNoJobs: false }));
    if (wanted.length > 0) await this.take(wanted, await clock.now(redis), true);
  }

  /** Reads probes, and stores when they were seen. */
  private async take(wanted: readonly WantedReading[], nowMs: number, wasPolling: boolean): Promise<void> {
    const { entries, lastSeen } = this;
    const read = await entries.read(wanted, { seen: lastSeen.times, nowMs, wasPolling });
    for (const { id } of wanted) this.described.noteChanged(id);
    const changes = wanted.flatMap(({ id }, index) => lastSeen.changesBy(id, read[index]!));
    this.describe(nowMs);
    await lastSeen.write(this.dependencies.redis, changes);
  }

  private describe(nowMs: number): void {
    const storeFault = this.dependencies.writes.refusal() === undefined ? undefined : REFUSED_WRITES;
    const { listed: records, off } = this;
    const [entries, seen] = [this.entries.byId, this.lastSeen.times];
    this.hasOldAccess = false;
    this.known = this.described.update({ records, entries, seen, off, storeFault, nowMs });
  }
}
