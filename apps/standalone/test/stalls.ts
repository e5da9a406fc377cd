/** Measures stalls of this process: a busy machine stalls the other processes likewise, which may miss deadlines. */
export interface StallMeasurement {
  /** Ends the measurement; returns the total of the stalls, milliseconds. */
  readonly stop: () => number;
}

const LOOK_EVERY_MS = 20;
/** A longer time between two runs of the timer is a stall. */
const NOTICED_MS = 60;

export function measureStalls(): StallMeasurement {
  let lookedAt = performance.now();
  let totalMs = 0;
  const look = (): void => {
    const passedMs = performance.now() - lookedAt;
    if (passedMs > NOTICED_MS) totalMs += passedMs;
    lookedAt += passedMs;
  };
  const looking = setInterval(look, LOOK_EVERY_MS);
  return {
    stop: () => {
      clearInterval(looking);
      look();
      return totalMs;
    },
  };
}
