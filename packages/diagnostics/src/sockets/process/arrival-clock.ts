import type { Libc, WallTime } from '../libc.ts';
import type { Clock } from '../packet-socket.ts';

/** Age above which a stamp is taken as wrong: the wall clock may have been set in between. */
const MAX_AGE_MS = 60_000;
/** A larger change between the two clocks is a step of the wall clock: when it is slewed, the other one is, too. */
const MAX_DRIFT_MS = 1;

interface Arrival {
  readonly receivedMs: number;
  readonly clock: Clock;
}

/**
 * The kernel's timestamps are wall-clock time; the age of a timestamp is subtracted from the monotonic clock. Without a
 * plausible one, or if the wall clock was set since the packets before were read, the present time counts.
 *
 * @returns a function that begins the reading of waiting packets, and returns one for the time of each
 */
export function arrivalClock(libc: Pick<Libc, 'wallClock'>): () => (stamp: WallTime | undefined) => Arrival {
  let last = bothClocks(libc);
  return () => {
    const now = bothClocks(libc);
    const driftMs = ageOf(last.wall, now.wall) - (now.nowMs - last.nowMs);
    const isSet = Math.abs(driftMs) > MAX_DRIFT_MS + now.gapMs + last.gapMs;
    last = now;
    return (stamp) => arrivalOf(isSet ? undefined : stamp, libc);
  };
}

function arrivalOf(stamp: WallTime | undefined, libc: Pick<Libc, 'wallClock'>): Arrival {
  const { nowMs, wall } = bothClocks(libc);
  if (stamp === undefined) return { receivedMs: nowMs, clock: 'process' };
  const ageMs = ageOf(stamp, wall);
  const isPlausible = ageMs >= 0 && ageMs <= Math.min(MAX_AGE_MS, nowMs);
  return isPlausible ? { receivedMs: nowMs - ageMs, clock: 'kernel' } : { receivedMs: nowMs, clock: 'process' };
}

function ageOf(then: WallTime, now: WallTime): number {
  return (now.seconds - then.seconds) * 1_000 + (now.nanoseconds - then.nanoseconds) / 1_000_000;
}

interface BothClocks {
  readonly nowMs: number;
  readonly wall: WallTime;
  readonly gapMs: number;
}

/**
 * Reads two clocks in close succession: of up to three tries the one with the shortest gap counts, and 0.02 ms
 * suffices.
 */
function bothClocks(libc: Pick<Libc, 'wallClock'>): BothClocks {
  let best: BothClocks = { nowMs: 0, wall: { seconds: 0, nanoseconds: 0 }, gapMs: Infinity };
  for (let tries = 0; tries < 3 && best.gapMs > 0.02; tries += 1) {
    const before = performance.now();
    const wall = libc.wallClock();
    const gapMs = performance.now() - before;
    if (gapMs < best.gapMs) best = { nowMs: before + gapMs / 2, wall, gapMs };
  }
  return best;
}
