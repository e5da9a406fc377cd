import type { KnownProbe } from '../../probes/registry/probe-status.ts';

export interface ProbeLoadOptions {
  /** Subscribes to the events of a check until the returned function is called. */
  readonly listen: (checkId: string, listener: (message: string) => void) => () => void;
  /** Longest expected queueing time of a job, milliseconds. */
  readonly longestWaitMs: number;
  /** Monotonic clock, milliseconds. */
  readonly nowMs?: () => number;
}

/**
 * Admission control: estimates each probe's queueing delay from the jobs dispatched by this coordinator and the length
 * of the probe's queue.
 */
export interface ProbeCapacity {
  /**
   * True if another job of this type may be dispatched to the probe: the expected wait, the share of the type and the
   * number of queued jobs are below their limits.
   */
  readonly hasCapacity: (probe: KnownProbe, type: string) => boolean;
  /** Records dispatched jobs. Their ends arrive as events; a check whose end is missed is forgotten after `lastsMs`. */
  readonly added: (checkId: string, probes: readonly string[], type: string, lastsMs: number) => void;
  /** Forgets the jobs of a check, such as one that was not started. */
  readonly removed: (checkId: string) => void;
  /** Forgets the durations of a probe that was removed. */
  readonly forget: (probe: string) => void;
  /** Number of checks with jobs believed to be running or queued. */
  readonly size: () => number;
}

interface Job {
  readonly probe: string;
  readonly type: string;
  readonly addedAt: number;
}

interface TypeUsage {
  /** Time of dispatch of the jobs believed to be running or queued, by check, oldest first; milliseconds of `nowMs`. */
  readonly jobs: Map<string, number>;
  /** Moving average of the time from dispatch to result, milliseconds. */
  tookMs: number;
  /** Number of values in the average, including the initial estimate. */
  values: number;
}

interface Given {
  readonly jobs: Job[];
  readonly endsAt: number;
  readonly stopListening: () => void;
}

const FINAL = /"probe":"([^"]+)","kind":"final"/;

/** Largest share of a probe's capacity for one type, so that a flood of one type leaves room for the others. */
const SHARE_OF_TYPE = 0.75;
/** Minimum weight of the newest value in the moving average. While 1/n is greater, all n values have equal weight. */
const NEWEST = 0.1;
/** Minimum interval between scans for checks whose end was missed. */
const REMOVE_OLD_INTERVAL_MS = 250;
/** Estimated duration of a type without samples. */
const FIRST_GUESS_MS = 250;
/**
 * Maximum jobs, waiting or taken, of an agent that connects to Redis: the cost of its commands grows with their number,
 * and a thief of its login might never remove a job.
 */
export const MOST_QUEUED = 256;
/** Slots of an agent that does not report its number. */
const CAPACITY = 20;

export function createProbeCapacity(options: ProbeLoadOptions): ProbeCapacity {
  return new LoadOfProbes(options);
}

class LoadOfProbes implements ProbeCapacity {
  private readonly listen: ProbeLoadOptions['listen'];
  private readonly longestWaitMs: number;
  private readonly nowMs: () => number;
  private readonly checks = new Map<string, Given>();
  private readonly lanes = new Map<string, Map<string, TypeUsage>>();
  private removeOldAt = Number.NEGATIVE_INFINITY;

  constructor({ listen, longestWaitMs, nowMs = () => performance.now() }: ProbeLoadOptions) {
    this.listen = listen;
    this.longestWaitMs = longestWaitMs;
    this.nowMs = nowMs;
  }

  readonly hasCapacity: ProbeCapacity['hasCapacity'] = ({ record, heartbeat, waiting = 0, queued }, type) => {
    const nowMs = this.nowMs();
    this.forgetOld(nowMs);
    const capacity = heartbeat?.load.capacity ?? CAPACITY;
    const lane = this.laneOf(record.id, type);
    let total = 0;
    let slowest = 1;
    let jobs = 0;
    for (const one of this.lanes.get(record.id)!.values()) {
      total += this.share(one, capacity, nowMs);
      jobs += one.jobs.size;
      if (one.jobs.size > 0) slowest = Math.max(slowest, expectedMs(one, nowMs));
    }
    if (queued !== undefined && Math.max(queued, jobs) >= MOST_QUEUED) return false;
    if (total >= 1 || this.share(lane, capacity, nowMs) >= SHARE_OF_TYPE) return false;
    // Jobs of other coordinators are known only by the length of the queue at the last refresh.
    return waiting === 0 || (waiting / capacity) * slowest < this.longestWaitMs;
  };

  readonly added: ProbeCapacity['added'] = (checkId, probes, type, lastsMs) => {
    const addedAt = this.nowMs();
    const stopListening = this.listen(checkId, (message) => {
      const probe = FINAL.exec(message)?.[1];
      if (probe !== undefined) this.ended(checkId, probe);
    });
    const jobs = probes.map((probe) => ({ probe, type, addedAt }));
    const endsAt = addedAt + lastsMs;
    this.removeOldAt = Math.min(this.removeOldAt, endsAt);
    this.checks.set(checkId, { jobs, endsAt, stopListening });
    for (const probe of probes) this.laneOf(probe, type).jobs.set(checkId, addedAt);
  };

  readonly removed: ProbeCapacity['removed'] = (checkId) => {
    const check = this.checks.get(checkId);
    for (const { probe, type } of check?.jobs ?? []) this.lanes.get(probe)?.get(type)?.jobs.delete(checkId);
    check?.stopListening();
    this.checks.delete(checkId);
  };

  readonly forget: ProbeCapacity['forget'] = (probe) => void this.lanes.delete(probe);

  readonly size: ProbeCapacity['size'] = () => this.checks.size;

  private laneOf(probe: string, type: string): TypeUsage {
    const ofProbe = this.lanes.get(probe) ?? new Map<string, TypeUsage>();
    this.lanes.set(probe, ofProbe);
    const lane = ofProbe.get(type) ?? { jobs: new Map(), tookMs: FIRST_GUESS_MS, values: 1 };
    ofProbe.set(type, lane);
    return lane;
  }

  /** The share of a probe's capacity that jobs of a type use; at 1 they use all of it. */
  private share(usage: TypeUsage, capacity: number, nowMs: number): number {
    const most = (capacity * this.longestWaitMs) / Math.max(expectedMs(usage, nowMs), 1);
    return usage.jobs.size / Math.max(capacity, most);
  }

  private ended(checkId: string, probe: string): void {
    const check = this.checks.get(checkId);
    const index = check?.jobs.findIndex((job) => job.probe === probe) ?? -1;
    if (check === undefined || index === -1) return;
    const [job] = check.jobs.splice(index, 1);
    const lane = this.lanes.get(probe)?.get(job!.type);
    if (lane !== undefined) {
      lane.jobs.delete(checkId);
      lane.values += 1;
      lane.tookMs += Math.max(NEWEST, 1 / lane.values) * (this.nowMs() - job!.addedAt - lane.tookMs);
    }
    if (check.jobs.length === 0) this.removed(checkId);
  }

  /** Forgets checks whose end was missed. */
  private forgetOld(nowMs: number): void {
    if (nowMs < this.removeOldAt) return;
    let nextEnd = Number.POSITIVE_INFINITY;
    this.checks.forEach(({ endsAt }, id) => {
      if (endsAt <= nowMs) this.removed(id);
      else nextEnd = Math.min(nextEnd, endsAt);
    });
    this.removeOldAt = Math.max(nextEnd, nowMs + REMOVE_OLD_INTERVAL_MS);
  }
}

/**
 * Expected duration of a job: the average, or the age of the oldest job if that is more, because a slow job raises the
 * average only when it ends.
 */
function expectedMs({ jobs, tookMs }: TypeUsage, nowMs: number): number {
  if (jobs.size === 0) return tookMs;
  return Math.max(tookMs, nowMs - jobs.values().next().value!);
}
