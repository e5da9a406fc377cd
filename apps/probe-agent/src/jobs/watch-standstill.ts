import { awakeClock } from '@vantage/timers';

/** Shortest stall in `stoodMs`: shorter ones are common on a busy machine, and timeouts tolerate them. */
const LEAST_MS = 1_000;
/** Shortest stall in `heldUpMs`: together, even short ones make measured times longer. */
const LEAST_SHORT_MS = 100;

export interface Standstill {
  /** Sum of the stalls of `LEAST_MS` or longer, milliseconds. */
  readonly stoodMs: number;
  /** Sum of those of `LEAST_SHORT_MS` or longer since the measurement began, milliseconds. */
  readonly heldUpMs: number;
}

export interface StandstillWatch {
  /** To be called when the code of the diagnostic is loaded: loading blocks the event loop. */
  readonly measurementBegins: () => void;
  /** Ends the watch. */
  readonly end: () => Standstill;
}

/** Sums the stalls of this process: it is stopped, its machine is suspended, or it gets no CPU time. */
export function watchStandstill(): StandstillWatch {
  let [stoodMs, heldUpMs] = [0, 0];
  const clock = awakeClock((milliseconds) => {
    if (milliseconds >= LEAST_MS) stoodMs += milliseconds;
    if (milliseconds >= LEAST_SHORT_MS) heldUpMs += milliseconds;
  });
  return {
    measurementBegins: () => {
      clock.now();
      heldUpMs = 0;
    },
    end: () => {
      clock.now();
      clock.stop();
      return { stoodMs, heldUpMs };
    },
  };
}
