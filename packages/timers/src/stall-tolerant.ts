/** However long this process or its machine stands still, no more than one slice of a time passes with it. */
const SLICE_MS = 250;
/** A timer that fires this late indicates a stall, which also delays the awaited event. */
const HELD_UP_MS = 50;
/** Extra time after a stall, to read what arrived meanwhile. */
const RESPITE_MS = 500;
/** All that is given again is not more than this. */
const MAX_RESPITE_MS = 2_000;

/**
 * Runs a function after a time in which something else should have happened. Time in which this process stood still counts
 * little: what it waits for lies unread, or stood still as well.
 *
 * @param onArm is given each timer that is armed: the first at once, the others later
 * @returns a function that keeps it from running
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
