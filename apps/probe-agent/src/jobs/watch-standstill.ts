import { awakeClock } from '@vantage/timers';

/** Shortest standstill in `stoodMs`: shorter ones are common on a busy machine, and timeouts tolerate them. */
const LEAST_MS = 1_000;
/** Shortest standstill in `heldUpMs`: together, even short ones make measured times longer. */
const LEAST_SHORT_MS = 100;

export interface Standstill {
  /** Sum of the standstills of `LEAST_MS` or longer, milliseconds. */
  readonly stoodMs: number;
  /** Sum of those of `LEAST_SHORT_MS` or longer since the measurement began, milliseconds. */
  readonly heldUpMs: number;
}

export interface StandstillWatch {
  /** To be called when the code of the diagnostic is loaded, which itself holds the process up. */
  readonly measurementBegins: () => void;
  /** Ends the watch. */
  readonly end: () => Standstill;
}

/** Sums the standstills of this process: it or its machine is stopped, or other programs have the processors. */
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
