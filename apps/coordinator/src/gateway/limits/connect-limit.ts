/** Limits how often the agents of one probe connect to this gateway, because each connection costs writes in Redis. */
export interface ConnectLimit {
  /**
   * @param probe a probe whose key the agent has proved to hold: each probe gets an entry in memory that stays, so
   * agents must not be able to name arbitrary ones
   */
  readonly admits: (probe: string) => boolean;
}

/** Maximum connections in a burst. */
const BURST = 30;
const PER_SECOND = 1;

/** @param nowMs monotonic clock, milliseconds */
export function createConnectLimit(nowMs = (): number => performance.now()): ConnectLimit {
  const states = new Map<string, { left: number; readonly atMs: number }>();
  return {
    admits: (probe) => {
      const now = nowMs();
      const before = states.get(probe) ?? { left: BURST, atMs: now };
      const left = Math.min(BURST, before.left + ((now - before.atMs) / 1_000) * PER_SECOND);
      // A refused connection uses no token, so that repeated attempts do not lock the probe out.
      const isAdmitted = left >= 1;
      states.set(probe, { left: isAdmitted ? left - 1 : left, atMs: now });
      return isAdmitted;
    },
  };
}
