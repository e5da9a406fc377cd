/** State of a probe at the previous read. */
export interface LastReading {
  /** Monotonic clock, milliseconds. */
  readonly atMs: number;
  /** Expiry of its heartbeat on the monotonic clock, milliseconds. */
  readonly endsAtMs: number;
  /** True if only the time of its heartbeat is expected to change, and its agent announces every other change. */
  readonly isSettled: boolean;
}

/** Decides which probes are read: active ones at each refresh, others rarely. */
export interface ReadingTurns {
  /** Marks a probe that may have jobs and results. */
  readonly noteActive: (probe: string, forMs: number) => void;
  /** Marks a probe whose heartbeat has changed. */
  readonly noteChanged: (probe: string) => void;
  readonly hasChanged: (probe: string) => boolean;
  /** True if it is active or its heartbeat has changed. */
  readonly hasNews: (probe: string) => boolean;
  /** True if a probe should be read now. */
  readonly isDue: (probe: string, last: LastReading | undefined) => boolean;
  /** Records a read by a command that was sent at that time. */
  readonly wasRead: (probe: string, sentAtMs: number) => void;
  readonly forget: (probe: string) => void;
}

/**
 * Longest interval between two reads of a probe: announcements can be lost, and its agent may stop taking the jobs of
 * other coordinators.
 */
const SELDOM_MS = 10_000;

export function createReadingTurns(nowMs: () => number = () => performance.now()): ReadingTurns {
  const activeUntilMs = new Map<string, number>();
  const changedAtMs = new Map<string, number>();
  const hasNews = (probe: string): boolean => changedAtMs.has(probe) || (activeUntilMs.get(probe) ?? 0) > nowMs();

  return {
    noteActive: (probe, forMs) => {
      activeUntilMs.set(probe, Math.max(activeUntilMs.get(probe) ?? 0, nowMs() + forMs));
    },
    noteChanged: (probe) => void changedAtMs.set(probe, nowMs()),
    hasChanged: (probe) => changedAtMs.has(probe),
    hasNews,
    isDue: (probe, last) => {
      const now = nowMs();
      if (last === undefined || hasNews(probe)) return true;
      return !last.isSettled || now >= last.endsAtMs || now - last.atMs >= SELDOM_MS;
    },
    wasRead: (probe, sentAtMs) => {
      if ((changedAtMs.get(probe) ?? Number.POSITIVE_INFINITY) <= sentAtMs) changedAtMs.delete(probe);
      if ((activeUntilMs.get(probe) ?? 0) <= nowMs()) activeUntilMs.delete(probe);
    },
    forget: (probe) => {
      activeUntilMs.delete(probe);
      changedAtMs.delete(probe);
    },
  };
}
