/** Measures stalls of this process: a busy machine stalls the other processes likewise, which may miss deadlines. */
export interface StallMeasurement {
  /** Ends the measurement; returns the total of the stalls, milliseconds. */
  readonly stop: () => number;
}

const POLL_INTERVAL_MS = 20;
/** A longer time between two runs of the timer is a stall. */
const NOTICED_MS = 60;

export function measureStalls(): StallMeasurement {
  let polledAt = performance.now();
  let totalMs = 0;
  const poll = (): void => {
    const passedMs = performance.now() - polledAt;
    if (passedMs > NOTICED_MS) totalMs += passedMs;
    polledAt += passedMs;
  };
  const polling = setInterval(poll, POLL_INTERVAL_MS);
  return {
    stop: () => {
      clearInterval(polling);
      poll();
      return totalMs;
    },
  };
}
