/**
 * Whether results come so fast that telling of several at once saves commands worth a wait. Judged by trial: one caller who
 * waits for each result before the next check looks the same as many who do not, until a wait has gathered nothing.
 */
export interface Pace {
  /** A signal is raised. */
  readonly noteRaised: () => void;
  /**
   * One signal is given for all that were raised.
   *
   * @param gathered how many these are
   */
  readonly noteGathered: (gathered: number) => void;
  /** True while a signal waits for others to join it. */
  readonly isDense: () => boolean;
}

/** Dense above about 130 results per second, even in bursts: this many results within this time. Ten at once are no rate. */
const RESULTS = 16;
const WITHIN_MS = 120;
/** A wait that collects fewer results than this has failed; the next one is tried later. */
const LEAST_GATHERED = 3;
/** Upper bound of the results between two waits, which doubles with each failed one. */
const MOST_BETWEEN = 1_024;

export function createPace(nowMs: () => number = () => performance.now()): Pace {
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
        dense = sinceTrial >= betweenTrials && isQuick();
        return;
      }
      dense = gathered >= LEAST_GATHERED;
      sinceTrial = 0;
      betweenTrials = dense ? RESULTS : Math.min(betweenTrials * 2, MOST_BETWEEN);
    },
    isDense: () => dense,
  };
}
