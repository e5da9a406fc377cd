/** Shortest time over which utilization is measured; calls within it get the last figure again. */
const WINDOW_MS = 100;

/**
 * @returns a function for the share of time, from 0 to 1, in which the event loop was not idle since the last
 * measurement; waits for a processor are included
 */
export function createUtilization(): () => number {
  let mark = performance.eventLoopUtilization();
  let markedMs = performance.now();
  let utilization = 0;
  return () => {
    const nowMs = performance.now();
    if (nowMs - markedMs < WINDOW_MS) return utilization;
    const next = performance.eventLoopUtilization();
    ({ utilization } = performance.eventLoopUtilization(next, mark));
    [mark, markedMs] = [next, nowMs];
    return utilization;
  };
}
