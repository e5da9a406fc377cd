/** Possible drift between two clocks, as a share of the time since the estimate. */
const DRIFT = 0.000_4;

/**
 * Estimates the clock of another machine from replies that have its time; between them it advances by the monotonic
 * clock.
 */
export interface RemoteClock {
  /** Milliseconds since the epoch. Before the first reply: by the local clock. */
  readonly now: () => number;
  readonly hasReply: () => boolean;
  /**
   * Takes a reply. Its round-trip time bounds its error, so a reply that took more than twice as long as that of the
   * estimate does not replace it, unless it proves a step of the remote clock or the estimate is too old.
   *
   * @param remoteMs time in the reply, milliseconds since the epoch
   * @param sentMs monotonic time of the request
   * @param replaces true if the estimate is obsolete, because another machine may have replied
   */
  readonly observe: (remoteMs: number, sentMs: number, replaces?: boolean) => void;
}

/** @param keepMs age from which any reply replaces an estimate */
export function createRemoteClock(keepMs: number, monotonicMs: () => number = () => performance.now()): RemoteClock {
  let offsetMs = Date.now() - monotonicMs();
  let best: { readonly rttMs: number; readonly takenMs: number } | undefined;

  const isBetter = (readOffsetMs: number, rttMs: number, takenMs: number): boolean => {
    if (best === undefined) return true;
    const ageMs = takenMs - best.takenMs;
    const possibleErrorMs = (rttMs + best.rttMs) / 2 + ageMs * DRIFT;
    return ageMs > keepMs || rttMs <= best.rttMs * 2 || Math.abs(readOffsetMs - offsetMs) > possibleErrorMs;
  };
  return {
    now: () => Math.round(monotonicMs() + offsetMs),
    hasReply: () => best !== undefined,
    observe: (remoteMs, sentMs, replaces = false) => {
      const takenMs = monotonicMs();
      const rttMs = takenMs - sentMs;
      const readOffsetMs = remoteMs - (sentMs + rttMs / 2);
      if (!replaces && !isBetter(readOffsetMs, rttMs, takenMs)) return;
      best = { rttMs, takenMs };
      offsetMs = readOffsetMs;
    },
  };
}

/** Milliseconds since the epoch, of the reply to the Redis command `TIME`: seconds and microseconds. */
export function msOfTimeReply([seconds = 0, microseconds = 0]: readonly (string | number)[]): number {
  return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
}
