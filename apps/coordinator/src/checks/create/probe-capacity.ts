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

export function createProbeLoad({
  listen,
  longestWaitMs,
  nowMs = () => performance.now(),
}: ProbeLoadOptions): ProbeLoad {
  const checks = new Map<string, Given>();
  const lanes = new Map<string, Map<string, Lane>>();
  let lookForOldAt = Number.NEGATIVE_INFINITY;

  const laneOf = (probe: string, type: string): Lane => {
    const ofProbe = lanes.get(probe) ?? new Map<string, Lane>();
    lanes.set(probe, ofProbe);
    const lane = ofProbe.get(type) ?? { jobs: 0, tookMs: FIRST_GUESS_MS };
    ofProbe.set(type, lane);
    return lane;
  };

  /** The part of a probe that a type takes; 1 is all that it can do without making a job wait for too long. */
  const share = ({ jobs, tookMs }: Lane, capacity: number): number =>
    jobs / Math.max(capacity, (capacity * longestWaitMs) / Math.max(tookMs, 1));

  const release = (checkId: string): void => {
    const check = checks.get(checkId);
    for (const { probe, type } of check?.jobs ?? []) laneOf(probe, type).jobs -= 1;
    check?.stopListening();
    checks.delete(checkId);
  };

  const ended = (checkId: string, probe: string): void => {
    const check = checks.get(checkId);
    const index = check?.jobs.findIndex((job) => job.probe === probe) ?? -1;
    if (check === undefined || index === -1) return;
    const [job] = check.jobs.splice(index, 1);
    const lane = laneOf(probe, job!.type);
    lane.jobs -= 1;
    lane.tookMs += NEWEST * (nowMs() - job!.addedAt - lane.tookMs);
    if (check.jobs.length === 0) release(checkId);
  };

  /** Whose end was not heard of: they are in the order in which they were added, if not quite in that of their ends. */
  const forgetOld = (): void => {
    if (nowMs() < lookForOldAt) return;
    lookForOldAt = nowMs() + LOOK_FOR_OLD_MS;
    for (const [id, { endsAt }] of checks) {
      if (endsAt > nowMs()) return;
      release(id);
    }
  };

  return {
    hasRoom: ({ record, heartbeat, waiting = 0 }, type) => {
      forgetOld();
      const capacity = heartbeat?.load.capacity ?? CAPACITY;
      const lane = laneOf(record.id, type);
      let [total, slowest] = [0, 1];
      for (const one of lanes.get(record.id)!.values()) {
        total += share(one, capacity);
        if (one.jobs > 0) slowest = Math.max(slowest, one.tookMs);
      }
      if (total >= 1 || share(lane, capacity) >= SHARE_OF_TYPE) return false;
      // What other coordinators gave it is seen in its queue, as last looked at.
      return waiting === 0 || (waiting / capacity) * slowest < longestWaitMs;
    },
    added: (checkId, probes, type, lastsMs) => {
      const addedAt = nowMs();
      const stopListening = listen(checkId, (message) => {
        const probe = FINAL.exec(message)?.[1];
        if (probe !== undefined) ended(checkId, probe);
      });
      const jobs = probes.map((probe) => ({ probe, type, addedAt }));
      checks.set(checkId, { jobs, endsAt: addedAt + lastsMs, stopListening });
      for (const probe of probes) laneOf(probe, type).jobs += 1;
    },
    removed: release,
    size: () => checks.size,
  };
}
