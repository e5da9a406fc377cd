import { createRemoteClock, msOfTimeReply } from '@vantage/timers';

/** The clock of Redis, by which deadlines are set, as an agent reads it. */
export interface AgentClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * The shortest round trip of the last readings, as others may have been delayed, milliseconds; 0 before the first.
   */
  readonly rttMs: () => number;
  /**
   * Reads the clock of Redis. Rejects if that fails; the last reading stays valid.
   *
   * @param isNewServer true after a reconnection: the server may be another one with another clock
   * @returns how far this moved the clock, milliseconds
   */
  readonly read: (isNewServer?: boolean) => Promise<number>;
}

/** The reply of `TIME`: seconds and microseconds. */
export type ReadTime = () => Promise<readonly (string | number)[]>;

const READING_STANDS_MS = 300_000;
const LAST_READINGS = 3;

/** Creates the clock, which is the local one until the first reading. */
export function createAgentClock(readTime: ReadTime, monotonicMs: () => number = () => performance.now()): AgentClock {
  const clock = createRemoteClock(READING_STANDS_MS, monotonicMs);
  let rttsMs: readonly number[] = [];
  return {
    now: clock.now,
    rttMs: () => (rttsMs.length === 0 ? 0 : Math.min(...rttsMs)),
    read: async (isNewServer = false) => {
      const sentMs = monotonicMs();
      const time = await readTime();
      rttsMs = [...(isNewServer ? [] : rttsMs), monotonicMs() - sentMs].slice(-LAST_READINGS);
      const beforeMs = clock.now();
      clock.observe(msOfTimeReply(time), sentMs, isNewServer);
      return clock.now() - beforeMs;
    },
  };
}
