/** State of a probe at the previous read. */
export interface LastReading {
  /** Monotonic clock, milliseconds. */
  readonly atMs: number;
  /** Expiry of the probe's heartbeat on the monotonic clock, milliseconds. */
  readonly endsAtMs: number;
  /**
   * True if only the time of the probe's heartbeat is expected to change, and its agent announces every other change;
   * also if the probe is offline and its stream is empty.
   */
  readonly isSettled: boolean;
  /** Length of the probe's result stream. */
  readonly entries: number;
}

/**
 * Decides which probes a refresh reads: changed ones always and, as far as `MOST_IN_ROTATION` permits, active ones each
 * time and others every `SELDOM_MS`.
 */
export interface ReadingTurns {
  /** Marks a probe that may have jobs and results. */
  readonly noteActive: (probe: string, forMs: number) => void;
  /** Marks a probe whose heartbeat has changed or may have changed. */
  readonly noteChanged: (probe: string) => void;
  /** Probes that were marked by `noteChanged` since they were read. */
  readonly changed: () => Iterable<string>;
  /** True if the probe is active or was marked by `noteChanged`. */
  readonly hasNews: (probe: string) => boolean;
  /**
   * Selects the probes to read now. Always selected: those that were never read or have changed, and those with entries
   * in their stream or an expired heartbeat. Selected in rotation, `MOST_IN_ROTATION` at most: those that are active,
   * not settled, or unread for `SELDOM_MS`.
   */
  readonly due: (probes: readonly string[], lastOf: (probe: string) => LastReading | undefined) => ReadonlySet<string>;
  /** Records a read by a command that was sent at that time. */
  readonly wasRead: (probe: string, sentAtMs: number) => void;
  readonly forget: (probe: string) => void;
}

/**
 * A probe that was not read for this long is read again when its turn comes: announcements can be lost, and its agent
 * may stop taking the jobs of other coordinators.
 */
const SELDOM_MS = 10_000;

/** Maximum probes that one refresh, about one per second, reads in rotation. */
export const MOST_IN_ROTATION = 1_000;

export function createReadingTurns(nowMs: () => number = () => performance.now()): ReadingTurns {
  const activeUntilMs = new Map<string, number>();
  const changedAtMs = new Map<string, number>();
  let start = 0;

  const isRequired = (probe: string, last: LastReading, now: number): boolean =>
    last.entries > 0 || now >= last.endsAtMs || changedAtMs.has(probe);
  const isWanted = (probe: string, last: LastReading, now: number): boolean =>
    !last.isSettled || now - last.atMs >= SELDOM_MS || (activeUntilMs.get(probe) ?? 0) > now;

  return {
    noteActive: (probe, forMs) => {
      activeUntilMs.set(probe, Math.max(activeUntilMs.get(probe) ?? 0, nowMs() + forMs));
    },
    noteChanged: (probe) => void changedAtMs.set(probe, nowMs()),
    changed: () => changedAtMs.keys(),
    hasNews: (probe) => changedAtMs.has(probe) || (activeUntilMs.get(probe) ?? 0) > nowMs(),
    due: (probes, lastOf) => {
      const now = nowMs();
      const due = new Set<string>();
      const first = start;
      let left = MOST_IN_ROTATION;
      for (let step = 0; step < probes.length; step += 1) {
        const index = (first + step) % probes.length;
        const probe = probes[index]!;
        const last = lastOf(probe);
        if (last === undefined || isRequired(probe, last, now)) due.add(probe);
        else if (left > 0 && isWanted(probe, last, now)) {
          due.add(probe);
          left -= 1;
          // The rotation of the next refresh begins after the last probe of this one.
          start = index + 1;
        }
      }
      return due;
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

/** Up to `most` elements from an index on, cyclic; all, in their order, if there are not more. */
export function windowOf(ids: readonly string[], start: number, most: number): readonly string[] {
  if (ids.length <= most) return ids;
  const begin = start % ids.length;
  return [...ids.slice(begin, begin + most), ...ids.slice(0, Math.max(0, begin + most - ids.length))];
}
