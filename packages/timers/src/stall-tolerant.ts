/**
 * Slice of a timeout: a stall of this process or its machine uses up at most one, unless it outlasts `MAX_RESPITE_MS`.
 */
const SLICE_MS = 250;
/** Delay of a timer that indicates a stall, which also delays the awaited event. */
const HELD_UP_MS = 50;
/** Extra time after a stall, to read what arrived meanwhile. */
const RESPITE_MS = 500;
/** Upper bound of the total extra time. */
const MAX_RESPITE_MS = 2_000;

/**
 * A stall-tolerant timeout: runs a function unless it is cancelled in time. A stall of this process uses up little of
 * the time, because the awaited event may be unread, or delayed by the same stall; that lengthens the timeout by at
 * most `MAX_RESPITE_MS` and the last stall.
 *
 * @param onArm called with each timer: the first at once, the others later
 * @returns a function that cancels it
 */
export function stallTolerantTimeout(
  milliseconds: number,
  run: () => void,
  onArm?: (timer: NodeJS.Timeout) => void,
): () => void {
  const latest = performance.now() + milliseconds + MAX_RESPITE_MS;
  let timer: NodeJS.Timeout | undefined;
  const arm = (leftMs: number, isLast = false): void => {
    const sliceMs = Math.min(leftMs, SLICE_MS);
    const due = performance.now() + sliceMs;
    timer = setTimeout(() => {
      const now = performance.now();
      const rest = leftMs - sliceMs;
      const isHeldUp = now - due >= HELD_UP_MS;
      if (now >= latest) {
        // Data that arrived during the stall is read before another timer fires.
        if (isHeldUp && !isLast) arm(1, true);
        else run();
      } else if (rest <= 0 && !isHeldUp) run();
      else arm(rest > 0 ? rest : RESPITE_MS);
    }, sliceMs);
    onArm?.(timer);
  };
  arm(milliseconds);
  return () => clearTimeout(timer);
}
