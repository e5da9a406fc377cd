/** One reading of a probe whose heartbeat is new. */
export interface JobsReading {
  /** Id of the job that is next to be taken; null if none waits. */
  readonly oldest: string | null;
  /** Run of the agent. */
  readonly instance: string;
  /** Jobs that this run has taken; undefined if it is of a release that does not count them. */
  readonly taken: number | undefined;
  readonly hasFreePlaces: boolean;
}

/** An agent with free places takes a job within a round trip, and its heartbeat counts it within two seconds. */
const UNTAKEN_FOR_MS = 6_000;
/** No check lasts longer than a minute: an agent without free places has one again by then. */
const FULL_FOR_MS = 75_000;
/** A degraded probe may get no job by which it could prove that it takes jobs again. */
const HOLDS_FOR_MS = 60_000;

export interface UntakenJobs {
  /** @returns true while the probe is known to take no jobs */
  readonly note: (probe: string, reading: JobsReading) => boolean;
}

interface Progress {
  /** Changes when a job was taken. */
  readonly mark: string;
  readonly readAtMs: number;
  readonly isWaiting: boolean;
  /** How long jobs were seen to wait since it changed, in all; and while places were free. */
  readonly waitedMs: number;
  readonly untakenMs: number;
  readonly provedAtMs: number | undefined;
}

/**
 * Notices probes whose agent beats but takes no jobs, though jobs wait. Their times add up until one is taken: a deadline
 * may remove each before it has waited for long.
 */
export function createUntakenJobs(nowMs: () => number = () => performance.now()): UntakenJobs {
  const progressOf = new Map<string, Progress>();

  return {
    note: (probe, { oldest, instance, taken, hasFreePlaces }) => {
      const now = nowMs();
      // Without a count only a job that stays the next one shows that none is taken.
      const mark = `${instance} ${taken ?? oldest}`;
      const before = progressOf.get(probe);
      const isSame = before?.mark === mark;
      const passedMs = isSame && before.isWaiting && oldest !== null ? now - before.readAtMs : 0;
      const waitedMs = (isSame ? before.waitedMs : 0) + passedMs;
      const untakenMs = (isSame ? before.untakenMs : 0) + (hasFreePlaces ? passedMs : 0);
      const isProof = passedMs > 0 && (untakenMs >= UNTAKEN_FOR_MS || waitedMs >= FULL_FOR_MS);
      const hasTaken = taken !== undefined && !isSame;
      const provedAtMs = isProof ? now : hasTaken ? undefined : before?.provedAtMs;
      progressOf.set(probe, { mark, readAtMs: now, isWaiting: oldest !== null, waitedMs, untakenMs, provedAtMs });
      return provedAtMs !== undefined && now - provedAtMs < HOLDS_FOR_MS;
    },
  };
}
