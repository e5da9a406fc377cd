/** What was known of a probe when it was read last. */
export interface LastReading {
  /** Monotonic, milliseconds. */
  readonly atMs: number;
  /** When its heartbeat expires; monotonic, milliseconds. */
  readonly endsAtMs: number;
  /** True if nothing is expected to change but the time of its heartbeat, and its agent would announce what does. */
  readonly isSettled: boolean;
}

/** Which probes are read when: those with something to do in each turn, the others seldom. */
export interface ReadingTurns {
  /** A probe that has, or may soon have, jobs and results. */
  readonly noteActive: (probe: string, forMs: number) => void;
  /** Its heartbeat has changed. */
  readonly noteChanged: (probe: string) => void;
  readonly hasChanged: (probe: string) => boolean;
  /** True if it is active or its heartbeat has changed. */
  readonly hasNews: (probe: string) => boolean;
  /** Whether a probe is to be read now. */
  readonly isDue: (probe: string, last: LastReading | undefined) => boolean;
  /** It was read by a command that was sent after that time. */
  readonly wasRead: (probe: string, sentAtMs: number) => void;
  readonly forget: (probe: string) => void;
}

/** Notifications can be lost, and the agents of other coordinators' jobs may take none: this long it may go unseen. */
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
