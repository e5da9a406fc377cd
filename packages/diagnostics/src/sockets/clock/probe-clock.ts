import { awakeClock, readFirstTimer, type AwakeClock } from '@vantage/timers';

/**
 * A clock that stops while the probe is stalled: the agent, as `awakeClock` detects, or its packet process, as a
 * missing answer shows. While the packet process is stalled, packets are not sent and answers are not read.
 */
export interface ProbeClock extends AwakeClock {
  /** Awaits a reply of the packet process; the clock stops once the reply has been pending for more than `GRACE_MS`. */
  readonly owed: <T>(answer: Promise<T>) => Promise<T>;
  /** True while a reply of the packet process has been pending for more than `GRACE_MS`. */
  readonly isStill: () => boolean;
  /** True if the agent or the packet process stalled for `LONG_STALL_MS` or more at a time. */
  readonly hasStalled: () => boolean;
  /** Time for which the packet process stalled, in stalls of a second or more, milliseconds. */
  readonly stalledMs: () => number;
}

/** Longest wait for an answer of the packet process that is no stall: it takes microseconds on an idle machine. */
const GRACE_MS = 250;

/**
 * Shortest stall after which a missing answer proves nothing: if the whole machine was stopped, packets to it were
 * lost. A machine that is only busy rarely stalls for so long.
 */
const LONG_STALL_MS = 2_000;

/** Shortest stall of the packet process that counts in `stalledMs`. */
const STATED_STALL_MS = 1_000;

/** Interval at which a stopped clock is read. */
const POLL_INTERVAL_MS = 50;

/** @param onLongStall called during or after each stall of `LONG_STALL_MS` or more, before the clock runs on */
export function probeClock(onLongStall: () => void = () => undefined): ProbeClock {
  let hasStalled = false;
  const note = (): void => {
    hasStalled = true;
    onLongStall();
  };
  const awake = awakeClock((milliseconds) => milliseconds >= LONG_STALL_MS && note());
  /** Number of missing answers, and the time since which the packet process has not answered. */
  let [owing, sinceMs] = [0, 0];
  let [stillMs, statedMs] = [0, 0];
  let isNoted = false;
  const owedFor = (): number => (owing === 0 ? 0 : awake.now() - sinceMs);
  const now = (): number => {
    const owedMs = owedFor();
    if (owedMs >= LONG_STALL_MS && !isNoted) {
      isNoted = true;
      note();
    }
    return awake.now() - stillMs - Math.max(0, owedMs - GRACE_MS);
  };
  const settle = (): void => {
    now();
    const owedMs = owedFor();
    stillMs += Math.max(0, owedMs - GRACE_MS);
    if (owedMs >= STATED_STALL_MS) statedMs += owedMs;
    [sinceMs, isNoted] = [awake.now(), false];
    owing -= 1;
  };
  const owed: ProbeClock['owed'] = async (answer) => {
    if (owing === 0) sinceMs = awake.now();
    owing += 1;
    try {
      return await answer;
    } finally {
      settle();
    }
  };
  return {
    now,
    stop: awake.stop,
    owed,
    isStill: () => owedFor() > GRACE_MS,
    hasStalled: () => hasStalled || owedFor() >= LONG_STALL_MS,
    stalledMs: () => statedMs + (owedFor() >= STATED_STALL_MS ? owedFor() : 0),
  };
}

/** Shortest pause of a loop that waits by the clock, milliseconds; longer while the clock is stopped. */
export function leastRestMs(clock: ProbeClock): number {
  return clock.isStill() ? POLL_INTERVAL_MS : 1;
}

/**
 * A timer by a clock that may be stopped; it reads the sockets before it calls `act`.
 *
 * @param latestMs time by `performance.now()` at which it calls `act` in any case
 * @returns a function that stops the timer
 */
export function clockTimer(clock: ProbeClock, act: () => void, milliseconds: number, latestMs = Infinity): () => void {
  const dueMs = clock.now() + milliseconds;
  const poll = (): void => {
    const leftMs = Math.min(dueMs - clock.now(), latestMs - performance.now());
    if (leftMs < 1) act();
    else stopTimer = readFirstTimer(poll, Math.max(leastRestMs(clock), leftMs));
  };
  let stopTimer = readFirstTimer(poll, Math.max(0, milliseconds));
  return () => stopTimer();
}

/**
 * Waits, before packets are declared lost, until the packet process has forwarded everything it had received: while it
 * is stalled, answers wait unread.
 *
 * @returns a function that calls `act` afterwards; calls during the wait are ignored
 */
export function onceCaughtUp(
  clock: ProbeClock,
  caughtUp: () => Promise<unknown> = () => Promise.resolve(),
): (act: () => void) => void {
  let isAsked = false;
  return (act) => {
    if (isAsked) return;
    isAsked = true;
    const then = (): void => {
      isAsked = false;
      act();
    };
    clock.owed(caughtUp()).then(then, then);
  };
}
