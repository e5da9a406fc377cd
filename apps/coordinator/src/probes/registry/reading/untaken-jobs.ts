import { LONGEST_CHECK_MS } from '@vantage/contract';

/** Data of a probe with a recent heartbeat. */
export interface JobsReading {
  /** Id of the next waiting job; null if there is none. */
  readonly oldest: string | null;
  /** Id of the process of the agent. */
  readonly instance: string;
  /** Jobs taken by this process; undefined for releases that do not count them. */
  readonly taken: number | undefined;
  readonly hasFreePlaces: boolean;
}

/**
 * Time after which a waiting job is a fault of an agent with free slots, which should take a job at once and report it
 * with its next heartbeat.
 */
const UNTAKEN_FOR_MS = 6_000;
/** `UNTAKEN_FOR_MS` of an agent without free slots: longer than any check, by the end of which a slot is free. */
const FULL_FOR_MS = LONGEST_CHECK_MS + 15_000;
/** How long a probe counts as taking no jobs after the last proof: it may get no job with which to prove its recovery. */
const HOLDS_FOR_MS = 60_000;

export interface UntakenJobs {
  /** @returns true while the probe takes no jobs */
  readonly note: (probe: string, reading: JobsReading) => boolean;
  readonly forget: (probe: string) => void;
  /** Number of probes that are remembered. */
  readonly size: () => number;
}

interface Progress {
  /** Changes when a job is taken. */
  readonly mark: string;
  readonly readAtMs: number;
  readonly isWaiting: boolean;
  /**
   * Total time for which jobs were seen waiting since the last one was taken, and the part of it with free slots;
   * milliseconds.
   */
  readonly waitedMs: number;
  readonly untakenMs: number;
  readonly provedAtMs: number | undefined;
}

/**
 * Detects agents that send heartbeats but take no jobs. Waiting times are summed until a job is taken, because a
 * deadline may remove each job early.
 */
export function createUntakenJobs(nowMs: () => number = () => performance.now()): UntakenJobs {
  const progressOf = new Map<string, Progress>();

  return {
    note: (probe, { oldest, instance, taken, hasFreePlaces }) => {
      const now = nowMs();
      // Without a count, only an unchanged next job shows that none is taken.
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
    forget: (probe) => void progressOf.delete(probe),
    size: () => progressOf.size,
  };
}
