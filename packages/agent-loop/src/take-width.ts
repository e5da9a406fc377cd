/** Concurrent takes without jobs, far from Redis: one waits while the reply of the other travels. */
export const IDLE = 2;
/** The same near Redis: the read of a job and the next take share a write. */
const IDLE_NEAR = 1;
const WIDEST = 16;
/**
 * Above this round-trip time, each job doubles the concurrent takes: jobs may arrive faster than the next take. Near Redis,
 * only a job that was waiting does: others probably wait, too.
 */
const NEAR_MS = 1;
/** A take that is answered within this time found a job waiting. */
const AT_ONCE_MS = 3;

/** The limit of concurrent takes. */
export interface TakeWidth {
  readonly now: () => number;
  /** Notes a reply, with the time that its take was the first to wait. */
  readonly answered: (hasJob: boolean, waitedMs: number) => void;
}

/** @param rttMs the round trip to Redis, milliseconds */
export function createTakeWidth(rttMs: () => number): TakeWidth {
  const idle = (): number => (rttMs() <= NEAR_MS ? IDLE_NEAR : IDLE);
  let width: number | undefined;
  return {
    now: () => (width ??= idle()),
    answered: (hasJob, waitedMs) => {
      const mayBeMore = hasJob && (rttMs() > NEAR_MS || waitedMs < AT_ONCE_MS);
      width = mayBeMore ? Math.min((width ?? idle()) * 2, WIDEST) : idle();
    },
  };
}
