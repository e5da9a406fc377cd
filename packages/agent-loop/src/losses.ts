/** Unplanned ends of an agent's connection, from which it concludes that its network is unstable. */
export interface Losses {
  readonly note: () => void;
  /** To be called when the last loss turns out to be deliberate: the probe was suspended or removed. */
  readonly excuse: () => void;
  /** Why the probe is degraded; undefined while its connection is stable. */
  readonly reason: () => string | undefined;
}

/** A heartbeat outlasts short interruptions, so the probe stays online while its jobs wait for the next connection. */
const UNSTABLE_FROM = 3;
const WITHIN_MS = 60_000;

/**
 * @param peer named in the reason
 * @param nowMs monotonic
 */
export function createLosses(peer: string, nowMs = (): number => performance.now()): Losses {
  // Without a number, which would change with each loss: every new reason is announced to the coordinators.
  const unstable = `Its connection to ${peer} is unstable: it was lost three times or more in the last minute.`;
  let lost: readonly number[] = [];
  let before = lost;
  return {
    note: () => {
      before = lost;
      lost = [...lost, nowMs()].slice(-UNSTABLE_FROM);
    },
    excuse: () => {
      lost = before;
    },
    reason: () => {
      const isUnstable = lost.length === UNSTABLE_FROM && nowMs() - lost[0]! <= WITHIN_MS;
      return isUnstable ? unstable : undefined;
    },
  };
}
