import { readFirstTimer } from './read-first-timer.ts';

/**
 * A monotonic clock that excludes stalls of this process: stopped, swapped out, or on a machine that stalls. Answers
 * that arrive during a stall cannot be read then, so their senders must not count as silent.
 */
export interface AwakeClock {
  /** Milliseconds. */
  readonly now: () => number;
  readonly stop: () => void;
}

const BEAT_MS = 50;
/** Tolerated delay of a beat; a longer gap is time in which the process did not run. */
const LATE_MS = 50;

/** @param onStall called with the length of each stall, when the process runs again */
export function awakeClock(onStall?: (milliseconds: number) => void): AwakeClock {
  let seenMs = performance.now();
  let lostMs = 0;
  const now = (): number => {
    const nowMs = performance.now();
    const lateMs = nowMs - seenMs - BEAT_MS;
    seenMs = nowMs;
    if (lateMs > LATE_MS) {
      lostMs += lateMs;
      onStall?.(lateMs);
    }
    return nowMs - lostMs;
  };
  const beat = setInterval(now, BEAT_MS);
  return { now, stop: () => clearInterval(beat) };
}

/**
 * A timer that counts no stalls of this process, and reads the sockets before it acts.
 *
 * @returns a function that stops it
 */
export function awakeTimer(act: () => void, milliseconds: number): () => void {
  const clock = awakeClock();
  const dueMs = clock.now() + milliseconds;
  const poll = (): void => {
    const leftMs = dueMs - clock.now();
    if (leftMs >= 1) {
      stopTimer = readFirstTimer(poll, leftMs);
      return;
    }
    clock.stop();
    act();
  };
  let stopTimer = readFirstTimer(poll, Math.max(0, milliseconds));
  return () => {
    stopTimer();
    clock.stop();
  };
}
