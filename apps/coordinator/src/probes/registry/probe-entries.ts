import type { Redis } from 'ioredis';

import type { ExcessWatch } from '../access/excess-watch.ts';
import { MOST_KEPT, type KeptJobs } from '../access/kept-jobs.ts';
import type { DueProbes } from './due-probes.ts';
import { entryOf, type EntryContext, type ProbeEntry, type ReadProbe } from './probe-entry.ts';
import type { ProbeValidators } from './probe-validators.ts';
import { createGatewayLives } from './reading/gateway-lives.ts';
import { readProbes, type WantedReading } from './reading/read-probes.ts';
import { createUntakenJobs } from './reading/untaken-jobs.ts';

export interface ProbeEntriesDependencies {
  readonly redis: Redis;
  readonly validators: Pick<ProbeValidators, 'readHeartbeat'>;
  /** Counts heartbeats above the size limit. */
  readonly oversize: ExcessWatch;
  readonly keptJobs: KeptJobs;
  readonly due: DueProbes;
}

/** The state of each probe as of its last read. */
export class ProbeEntries {
  private readonly dependencies: ProbeEntriesDependencies;
  private readonly untaken = createUntakenJobs();
  private readonly lives = createGatewayLives();
  private readonly entries = new Map<string, ProbeEntry>();
  /** Probes whose result streams had entries at their last read. */
  private readonly filled = new Set<string>();
  private readonly listeners: ((id: string) => void)[] = [];

  constructor(dependencies: ProbeEntriesDependencies) {
    this.dependencies = dependencies;
  }

  get byId(): ReadonlyMap<string, ProbeEntry> {
    return this.entries;
  }

  /** Probes whose result streams had entries at their last read. */
  get withResults(): Iterable<string> {
    return this.filled;
  }

  /** Reads the leases of the gateways that the entries name. */
  readGateways(): Promise<void> {
    const gateways = new Set<string>();
    for (const { gateway } of this.entries.values()) if (gateway !== undefined) gateways.add(gateway);
    return this.lives.read(this.dependencies.redis, gateways);
  }

  /** Reads probes. @returns their new entries in this order */
  async read(
    wanted: readonly WantedReading[],
    context: Pick<EntryContext, 'seen' | 'nowMs' | 'wasPolling'>,
  ): Promise<readonly ProbeEntry[]> {
    const { oversize, keptJobs, due } = this.dependencies;
    const { untaken, lives } = this;
    const atMs = performance.now();
    const readings = await this.readingsOf(wanted);
    return wanted.map(({ id }, index) => {
      const reading = readings[index]!;
      if (reading.isOversized) {
        oversize.note(id);
        // Two oversized heartbeats suspend the agent's user, so the next refresh must read this probe again.
        due.turns.noteChanged(id);
      }
      if (reading.active > MOST_KEPT) keptJobs.note(id);
      const entry = entryOf(id, reading, this.entries.get(id), { ...context, untaken, lives, atMs });
      this.entries.set(id, entry);
      if (entry.entries > 0) this.filled.add(id);
      else this.filled.delete(id);
      due.turns.wasRead(id, atMs);
      return entry;
    });
  }

  forget(id: string): void {
    this.untaken.forget(id);
    this.entries.delete(id);
    this.filled.delete(id);
    this.dependencies.due.turns.forget(id);
    for (const listener of this.listeners) listener(id);
  }

  /** Calls back with each probe that is forgotten. */
  onForgotten(listener: (id: string) => void): void {
    this.listeners.push(listener);
  }

  /** Reads probes; reuses the last reading of a probe whose gateway announces every change. */
  private async readingsOf(wanted: readonly WantedReading[]): Promise<readonly ReadProbe[]> {
    const { redis, validators, due } = this.dependencies;
    const unchanged = new Map<string, ReadProbe>();
    for (const { id, hasNoJobs } of wanted) {
      const entry = this.entries.get(id);
      if (entry !== undefined && hasNoJobs && this.isUnchanged(id, entry)) {
        const { text, read: heartbeat, entries } = entry;
        const reading = { leftMs: 0, isOversized: false, waiting: 0, active: 0, oldest: null };
        unchanged.set(id, { ...reading, text, heartbeat, entries });
      }
    }
    due.endTurn();
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
    return !this.dependencies.due.mustRead(id);
  }
}
