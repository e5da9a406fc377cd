/** The clock of Redis, by which deadlines are set, as this machine's monotonic clock carries it on. */
export interface RedisClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The shortest round trip of the last readings, milliseconds: one of them may have been held up. */
  readonly rttMs: () => number;
  /**
   * Reads it again. Rejects as the command does; the last reading stands then.
   *
   * @param isNewServer true after a reconnect: it may be another server, with another clock
   */
  readonly read: (isNewServer?: boolean) => Promise<void>;
}

/** What `TIME` answers: seconds and microseconds. */
export type ReadTime = () => Promise<readonly (string | number)[]>;

/**
 * A reading may be off by half its round trip, so a slow one does not replace a quick one of the last five minutes, unless it shows
 * that the server's clock was stepped since.
 */
const READING_STANDS_MS = 300_000;
/** What two clocks may drift apart in that time. */
const DRIFT_MS = 100;
const LAST_READINGS = 3;

/** Until the first reading it is this machine's own clock. */
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
