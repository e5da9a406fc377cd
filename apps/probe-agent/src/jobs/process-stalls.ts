import { awakeClock } from '@vantage/timers';

/** Shortest stall in `longStallsMs`: shorter ones are common on a busy machine, and timeouts tolerate them. */
const LEAST_MS = 1_000;
/** Shortest stall in `allStallsMs`: together, even short ones make measured times longer. */
const LEAST_SHORT_MS = 100;

export interface ProcessStalls {
  /** Sum of the stalls of `LEAST_MS` or longer, milliseconds. */
  readonly longStallsMs: number;
  /** Sum of the stalls of `LEAST_SHORT_MS` or longer since the measurement began, milliseconds. */
  readonly allStallsMs: number;
}

export interface ProcessStallWatch {
  /** To be called when the code of the diagnostic is loaded: loading blocks the event loop. */
  readonly measurementBegins: () => void;
  /** Ends the watch. */
  readonly end: () => ProcessStalls;
}

/** Sums the stalls of this process: it is stopped, its machine is suspended, or it gets no CPU time. */
export function watchProcessStalls(): ProcessStallWatch {
  let [longStallsMs, allStallsMs] = [0, 0];
  const clock = awakeClock((milliseconds) => {
    if (milliseconds >= LEAST_MS) longStallsMs += milliseconds;
    if (milliseconds >= LEAST_SHORT_MS) allStallsMs += milliseconds;
  });
  return {
    measurementBegins: () => {
      clock.now();
      allStallsMs = 0;
    },
    end: () => {
      clock.now();
      clock.stop();
      return { longStallsMs, allStallsMs };
    },
  };
}
