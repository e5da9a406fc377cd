import type { ProbeRecord } from '@vantage/contract';

import type { AgentAccess } from '../enrolment/agent-access.ts';
import { isJustBack } from './last-seen.ts';
import type { ProbeEntry, Seen } from './probe-entry.ts';
import type { KnownProbe } from './probe-status.ts';

/** Data from which the list of known probes is made. */
export interface DirectoryState {
  readonly records: readonly ProbeRecord[];
  readonly entries: ReadonlyMap<string, ProbeEntry>;
  readonly seen: Seen;
  /** Why agents are suspended, by probe. */
  readonly off: Seen;
  readonly storeFault: string | undefined;
  /** Time by the clock of Redis, milliseconds. */
  readonly nowMs: number;
}

/** The list of known probes: only what has changed is made again, because there may be thousands. */
export interface KnownProbes {
  /** Marks a probe whose entry or enrolment may have changed. */
  readonly noteChanged: (id: string) => void;
  /** @returns a new array if any probe has changed, otherwise the previous one */
  readonly update: (state: DirectoryState) => readonly KnownProbe[];
}

/** @param accessOf returns the enrolment of the agent of a probe */
export function createKnownProbes(accessOf: (id: string) => AgentAccess): KnownProbes {
  return new ListOfKnownProbes(accessOf);
}

class ListOfKnownProbes implements KnownProbes {
  private readonly accessOf: (id: string) => AgentAccess;
  private known: readonly KnownProbe[] = [];
  private indices: ReadonlyMap<string, number> = new Map();
  private before: DirectoryState | undefined;
  private readonly changed = new Set<string>();
  /** Probes that have just returned: their status changes with time. */
  private readonly justBack = new Set<string>();
  /** The entry from which each probe was made. */
  private readonly madeOf = new Map<string, ProbeEntry>();

  constructor(accessOf: (id: string) => AgentAccess) {
    this.accessOf = accessOf;
  }

  readonly noteChanged: KnownProbes['noteChanged'] = (id) => void this.changed.add(id);

  readonly update: KnownProbes['update'] = (state) => {
    const { before } = this;
    this.before = state;
    if (before === undefined || concernsAll(before, state)) this.makeAll(state);
    else this.makeChanged(state);
    this.changed.clear();
    return this.known;
  };

  private makeAll(state: DirectoryState): void {
    this.justBack.clear();
    const known = state.records.flatMap((record): readonly KnownProbe[] => {
      const index = this.indices.get(record.id);
      const probe = this.make(record, state, index === undefined ? undefined : this.known[index]);
      return probe === undefined ? [] : [probe];
    });
    if (known.length === this.known.length && known.every((probe, index) => probe === this.known[index])) return;
    this.known = known;
    this.indices = new Map(known.map(({ record: { id } }, index) => [id, index]));
    for (const id of this.madeOf.keys()) if (!this.indices.has(id)) this.madeOf.delete(id);
  }

  private makeChanged(state: DirectoryState): void {
    let known: KnownProbe[] | undefined;
    for (const id of new Set([...this.changed, ...this.justBack])) {
      const index = this.indices.get(id);
      if (index === undefined && !state.entries.has(id)) continue;
      // The probe is new: its record was listed before its first entry was read.
      if (index === undefined) return this.makeAll(state);
      const before = this.known[index]!;
      this.justBack.delete(id);
      const probe = this.make(before.record, state, before);
      if (probe === undefined) return this.makeAll(state);
      if (probe === before) continue;
      known ??= [...this.known];
      known[index] = probe;
    }
    if (known !== undefined) this.known = known;
  }

  private make(
    record: ProbeRecord,
    { entries, seen, off, storeFault, nowMs }: DirectoryState,
    before: KnownProbe | undefined,
  ): KnownProbe | undefined {
    const { id } = record;
    const entry = entries.get(id);
    if (entry === undefined) return undefined;
    const justBack = isJustBack(id, entry, seen, nowMs);
    if (justBack) this.justBack.add(id);
    const access = this.accessOf(id);
    // The enrolment shows a suspension at once; the hash of suspensions shows it only after its next read.
    const switchedOff = (access.state === 'suspended' ? access.reason : null) ?? off[id];
    const now = { record, justBack, switchedOff, access, storeFault };
    // An unchanged object is kept: thousands of new ones per second would be garbage.
    if (before !== undefined && this.madeOf.get(id) === entry && isSameFields(before, now)) return before;
    const known = { ...entry.probe, ...now };
    this.madeOf.set(id, entry);
    return known;
  }
}

/** True if anything differs that belongs to no single probe. */
function concernsAll(before: DirectoryState, now: DirectoryState): boolean {
  return (
    before.records !== now.records ||
    before.seen !== now.seen ||
    before.off !== now.off ||
    before.storeFault !== now.storeFault
  );
}

function isSameFields(before: KnownProbe, now: Omit<KnownProbe, 'alive' | 'heartbeat' | 'lastSeenMs'>): boolean {
  const { record, justBack, switchedOff, access, storeFault } = now;
  return (
    before.record === record &&
    before.justBack === justBack &&
    before.switchedOff === switchedOff &&
    before.access === access &&
    before.storeFault === storeFault
  );
}
