/** The clock of Redis, by which deadlines are set; extrapolated with the monotonic clock of this machine. */
export interface RedisClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The shortest round trip of the last readings, milliseconds; others may have been delayed. */
  readonly rttMs: () => number;
  /**
   * Reads it again. On a rejection, the last reading stays valid.
   *
   * @param isNewServer true after a reconnection: the server may be another one with another clock
   */
  readonly read: (isNewServer?: boolean) => Promise<void>;
}

/** The reply of `TIME`: seconds and microseconds. */
export type ReadTime = () => Promise<readonly (string | number)[]>;

/**
 * The round-trip time bounds the error of a reading, so a slow one does not replace a fast one of the last five
 * minutes, unless it proves a step of the server's clock.
 */
const READING_STANDS_MS = 300_000;
/** Possible drift between two clocks in that time. */
const DRIFT_MS = 100;
const LAST_READINGS = 3;

/** Until the first reading, the local clock is used. */
export function createRedisClock(readTime: ReadTime, monotonicMs: () => number = () => performance.now()): RedisClock {
  let offsetMs = Date.now() - monotonicMs();
  let best = { rttMs: Number.POSITIVE_INFINITY, takenMs: Number.NEGATIVE_INFINITY };
  let rttsMs: readonly number[] = [];
  return {
    now: () => Math.round(monotonicMs() + offsetMs),
    rttMs: () => (rttsMs.length === 0 ? 0 : Math.min(...rttsMs)),
    read: async (isNewServer = false) => {
      const sentMs = monotonicMs();
      const [seconds = 0, microseconds = 0] = await readTime();
      const takenMs = monotonicMs();
      const rttMs = takenMs - sentMs;
      rttsMs = [...(isNewServer ? [] : rttsMs), rttMs].slice(-LAST_READINGS);
      const readOffsetMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000 - (sentMs + rttMs / 2);
      const isStepped = Math.abs(readOffsetMs - offsetMs) > rttMs / 2 + best.rttMs / 2 + DRIFT_MS;
      const isWorse = rttMs > best.rttMs * 2 && takenMs - best.takenMs < READING_STANDS_MS;
      if (!isNewServer && isWorse && !isStepped) return;
      best = { rttMs, takenMs };
      offsetMs = readOffsetMs;
    },
  };
}
