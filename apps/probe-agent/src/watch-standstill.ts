import { awakeClock } from '@vantage/timers';

/** Least standstill that a result states: shorter ones are common on a busy machine, and timeouts tolerate them. */
const LEAST_MS = 1_000;

/**
 * Sums the standstills of this process, because it or its machine is stopped, of `LEAST_MS` or longer.
 *
 * @returns `end` ends the watch and returns the sum in milliseconds
 */
export function watchStandstill(): { readonly end: () => number } {
  let stoodMs = 0;
  const clock = awakeClock((milliseconds) => {
    if (milliseconds >= LEAST_MS) stoodMs += milliseconds;
  });
  return {
    end: () => {
      clock.now();
      clock.stop();
      return stoodMs;
    },
  };
}
