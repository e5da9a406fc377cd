/** Shortest time over which utilization is measured. */
const WINDOW_MS = 100;

/**
 * @returns a function for the share of the recent time, from 0 to 1, for which the event loop had work or waited for a
 * processor. The time since the last call, and at least 100 ms
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
