/** Unplanned ends of an agent's connection, from which it concludes that its network is unstable. */
export interface Losses {
  readonly note: () => void;
  /** To be called when there is a connection again. */
  readonly restored: () => void;
  /** To be called when the last loss turns out to be deliberate: the probe was suspended or removed. */
  readonly excuse: () => void;
  /** Why the probe is degraded; undefined while its connection is stable. */
  readonly reason: () => string | undefined;
}

/**
 * Interruptions that degrade the probe by their number. Its heartbeat outlasts them, so it would look healthy while its
 * jobs wait for the next connection.
 */
const FREQUENT = { losses: 3, withinMs: 60_000 };
/**
 * Rarer but longer interruptions that degrade the probe. More than the one or two that a fail-over of Redis causes,
 * which would otherwise degrade all probes.
 */
const LASTING = { losses: 4, withinMs: 150_000, totalMs: 10_000 };

interface Interruption {
  readonly lostAt: number;
  /** Undefined while there is no connection. */
  readonly restoredAt?: number;
}

/**
 * @param peer named in the reason
 * @param nowMs monotonic
 */
export function createLosses(peer: string, nowMs = (): number => performance.now()): Losses {
  // The text has no count, which would change with each loss: every new text is announced to the coordinators.
  const unstable = `Its connection to ${peer} is unstable: it was lost three times or more in the last minute, or often and for long in the last minutes.`;
  let lost: readonly Interruption[] = [];
  let before = lost;
  return {
    note: () => {
      before = lost;
      lost = [...lost, { lostAt: nowMs() }].slice(-LASTING.losses);
    },
    restored: () => {
      lost = lost.map((one) => ({ restoredAt: nowMs(), ...one }));
    },
    excuse: () => {
      lost = before;
    },
    reason: () => (isFrequent(lost, nowMs()) || isLasting(lost, nowMs()) ? unstable : undefined),
  };
}

function isFrequent(lost: readonly Interruption[], now: number): boolean {
  const first = lost.at(-FREQUENT.losses);
  return first !== undefined && now - first.lostAt <= FREQUENT.withinMs;
}

function isLasting(lost: readonly Interruption[], now: number): boolean {
  const recent = lost.filter(({ lostAt }) => now - lostAt <= LASTING.withinMs);
  const totalMs = recent.reduce((sum, { lostAt, restoredAt = now }) => sum + restoredAt - lostAt, 0);
  return recent.length >= LASTING.losses && totalMs >= LASTING.totalMs;
}
