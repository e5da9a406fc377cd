import { createUtilization } from './utilization.ts';

/**
 * Decides whether this process is so busy with results that combined notifications save enough commands to justify
 * their delay. The rate of results does not show this: a client that starts each check after the result of the last one
 * may cause the same rate as independent clients, but there a delay combines nothing. So delays are tried.
 */
export interface Pace {
  /** Records that a result raises a signal. */
  readonly noteRaised: () => void;
  /**
   * Records one combined notification.
   *
   * @param gathered number of combined results
   */
  readonly noteGathered: (gathered: number) => void;
  /** True while signals are delayed so that several can be combined. */
  readonly isDense: () => boolean;
}

/** Share of time for which the event loop is busy: below it, there is nothing to save. */
const BUSY = 0.5;
/**
 * The notifications of this number of results within `WITHIN_MS` are worth combining, which is a rate of about 130
 * results per second. A burst of ten results at once does not suffice.
 */
const RESULTS = 16;
const WITHIN_MS = 120;
/** A wait that collects fewer results than this has failed; the next one is tried later. */
const LEAST_GATHERED = 3;
/** A wait that fails doubles the number of results until the next one is tried, up to this number. */
const MOST_BETWEEN = 1_024;

/** @param utilization the share of the recent time for which this process had work */
export function createPace(nowMs: () => number = () => performance.now(), utilization = createUtilization()): Pace {
  const raisedMs: number[] = [];
  let dense = false;
  let betweenTrials = RESULTS;
  let sinceTrial = RESULTS;

  const isQuick = (): boolean => raisedMs.length === RESULTS && nowMs() - raisedMs[0]! < WITHIN_MS;

  return {
    noteRaised: () => {
      sinceTrial += 1;
      raisedMs.push(nowMs());
      if (raisedMs.length > RESULTS) raisedMs.shift();
    },
    noteGathered: (gathered) => {
      if (!dense) {
        dense = sinceTrial >= betweenTrials && isQuick() && utilization() >= BUSY;
        return;
      }
      dense = gathered >= LEAST_GATHERED && utilization() >= BUSY;
      sinceTrial = 0;
      betweenTrials = dense ? RESULTS : Math.min(betweenTrials * 2, MOST_BETWEEN);
    },
    isDense: () => dense,
  };
}
