import type { KnownProbe } from '../../probes/registry/probe-status.ts';

export interface ProbeLoadOptions {
  /** Listens to the events of a check until the returned function is called. */
  readonly listen: (checkId: string, listener: (message: string) => void) => () => void;
  /** Longest time that a job may be expected to wait for its turn, milliseconds. */
  readonly longestWaitMs: number;
  /** Monotonic, milliseconds. */
  readonly nowMs?: () => number;
}

/**
 * How busy the probes are with what this coordinator gave them. A probe has no room where what it has would keep a further
 * job waiting for too long: then a check is better refused at once than accepted and ended by its deadline.
 */
export interface ProbeLoad {
  /** Whether a probe can take a job of a type such that it, and all that were given before it, end on time. */
  readonly hasRoom: (probe: KnownProbe, type: string) => boolean;
  /** Jobs that were given out; their ends are heard of. */
  readonly added: (checkId: string, probes: readonly string[], type: string, lastsMs: number) => void;
  /** A check that was taken back. */
  readonly removed: (checkId: string) => void;
  /** Jobs under way that are known here. */
  readonly size: () => number;
}

interface Job {
  readonly probe: string;
  readonly type: string;
  readonly addedAt: number;
}

interface Lane {
  jobs: number;
  /** How long a job of this type takes on this probe, its waiting included: a moving average. */
  tookMs: number;
}

interface Given {
  readonly jobs: Job[];
  readonly endsAt: number;
  readonly stopListening: () => void;
}

const FINAL = /"probe":"([^"]+)","kind":"final"/;

/** No type gets more of a probe than this, so that a flood of one leaves room for the others. */
const SHARE_OF_TYPE = 0.75;
/** Weight of the newest in the moving average. */
const NEWEST = 0.1;
/** How often it is looked for checks whose end was not heard of. */
const LOOK_FOR_OLD_MS = 250;
/** Before anything is known. */
const FIRST_GUESS_MS = 250;
/** Where an agent does not say. */
const CAPACITY = 20;

export function createProbeLoad(options: ProbeLoadOptions): ProbeLoad {
  return new LoadOfProbes(options);
}

class LoadOfProbes implements ProbeLoad {
  private readonly listen: ProbeLoadOptions['listen'];
  private readonly longestWaitMs: number;
  private readonly nowMs: () => number;
  private readonly checks = new Map<string, Given>();
  private readonly lanes = new Map<string, Map<string, Lane>>();
  private lookForOldAt = Number.NEGATIVE_INFINITY;

  constructor({ listen, longestWaitMs, nowMs = () => performance.now() }: ProbeLoadOptions) {
    this.listen = listen;
    this.longestWaitMs = longestWaitMs;
    this.nowMs = nowMs;
  }

  readonly hasRoom: ProbeLoad['hasRoom'] = ({ record, heartbeat, waiting = 0 }, type) => {
    this.forgetOld();
    const capacity = heartbeat?.load.capacity ?? CAPACITY;
    const lane = this.laneOf(record.id, type);
    let [total, slowest] = [0, 1];
    for (const one of this.lanes.get(record.id)!.values()) {
      total += this.share(one, capacity);
      if (one.jobs > 0) slowest = Math.max(slowest, one.tookMs);
    }
    if (total >= 1 || this.share(lane, capacity) >= SHARE_OF_TYPE) return false;
    // What other coordinators gave it is seen in its queue, as last looked at.
    return waiting === 0 || (waiting / capacity) * slowest < this.longestWaitMs;
  };

  readonly added: ProbeLoad['added'] = (checkId, probes, type, lastsMs) => {
    const addedAt = this.nowMs();
    const stopListening = this.listen(checkId, (message) => {
      const probe = FINAL.exec(message)?.[1];
      if (probe !== undefined) this.ended(checkId, probe);
    });
    const jobs = probes.map((probe) => ({ probe, type, addedAt }));
    this.checks.set(checkId, { jobs, endsAt: addedAt + lastsMs, stopListening });
    for (const probe of probes) this.laneOf(probe, type).jobs += 1;
  };

  readonly removed: ProbeLoad['removed'] = (checkId) => {
    const check = this.checks.get(checkId);
    for (const { probe, type } of check?.jobs ?? []) this.laneOf(probe, type).jobs -= 1;
    check?.stopListening();
    this.checks.delete(checkId);
  };

  readonly size: ProbeLoad['size'] = () => this.checks.size;

  private laneOf(probe: string, type: string): Lane {
    const ofProbe = this.lanes.get(probe) ?? new Map<string, Lane>();
    this.lanes.set(probe, ofProbe);
    const lane = ofProbe.get(type) ?? { jobs: 0, tookMs: FIRST_GUESS_MS };
    ofProbe.set(type, lane);
    return lane;
  }

  /** The part of a probe that a type takes; 1 is all that it can do without making a job wait for too long. */
  private share({ jobs, tookMs }: Lane, capacity: number): number {
    return jobs / Math.max(capacity, (capacity * this.longestWaitMs) / Math.max(tookMs, 1));
  }

  private ended(checkId: string, probe: string): void {
    const check = this.checks.get(checkId);
    const index = check?.jobs.findIndex((job) => job.probe === probe) ?? -1;
    if (check === undefined || index === -1) return;
    const [job] = check.jobs.splice(index, 1);
    const lane = this.laneOf(probe, job!.type);
    lane.jobs -= 1;
    lane.tookMs += NEWEST * (this.nowMs() - job!.addedAt - lane.tookMs);
    if (check.jobs.length === 0) this.removed(checkId);
  }

  /** Whose end was not heard of: they are in the order in which they were added, if not quite in that of their ends. */
  private forgetOld(): void {
    if (this.nowMs() < this.lookForOldAt) return;
    this.lookForOldAt = this.nowMs() + LOOK_FOR_OLD_MS;
    for (const [id, { endsAt }] of this.checks) {
      if (endsAt > this.nowMs()) return;
      this.removed(id);
    }
  }
}
