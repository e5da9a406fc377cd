/** An agent with free places takes a job within a round trip; this is more than its machine may stand still for a moment. */
const UNTAKEN_FOR_MS = 4_000;
/** The deadline removes a job that was never taken: the next proof needs another job. */
const HOLDS_FOR_MS = 60_000;

interface Oldest {
  readonly id: string;
  readonly sinceMs: number;
}

/** Notices probes whose agent beats but takes no jobs: the oldest waiting job stays the same while places are free. */
export function createUntakenJobs(nowMs: () => number = () => performance.now()): {
  /**
   * Notes one reading of a probe.
   *
   * @param oldest the id of the job that is next to be taken, or null if none waits
   * @returns true while the probe is known to take no jobs
   */
  readonly note: (probe: string, oldest: string | null, hasFreePlaces: boolean) => boolean;
} {
  const oldestOf = new Map<string, Oldest>();
  const provedAtMs = new Map<string, number>();

  return {
    note: (probe, oldest, hasFreePlaces) => {
      const now = nowMs();
      const before = oldestOf.get(probe);
      if (oldest === null || !hasFreePlaces) oldestOf.delete(probe);
      else if (before?.id !== oldest) oldestOf.set(probe, { id: oldest, sinceMs: now });
      else if (now - before.sinceMs >= UNTAKEN_FOR_MS) provedAtMs.set(probe, now);
      const provedAt = provedAtMs.get(probe);
      if (provedAt === undefined) return false;
      if (now - provedAt < HOLDS_FOR_MS) return true;
      provedAtMs.delete(probe);
      return false;
    },
  };
}
