/**
 * Whether jobs come so fast that taking them in bunches saves commands worth a wait. Judged by trial: one caller who waits
 * for each result before the next check looks the same as many who do not, until a rest has gathered nothing.
 */
export interface Pace {
  /** A job starts. */
  readonly noteStart: () => void;
  /**
   * The queue was looked at until nothing was left.
   *
   * @param gathered jobs that were found since the last rest or wait
   */
  readonly noteLook: (gathered: number) => void;
  /** True while the taker rests between two looks instead of waiting to be told. */
  readonly isDense: () => boolean;
}

/** Dense from about 130 jobs a second on, also where they come in bunches; ten at once are no rate. */
const JOBS = 16;
const WITHIN_MS = 120;
/** A rest that gathers fewer than this has failed … */
const LEAST_GATHERED = 3;
/** … and the next is tried twice as many jobs later, up to this many. */
const MOST_JOBS_BETWEEN = 1_024;

export function createPace(nowMs: () => number = () => performance.now()): Pace {
  const starts: number[] = [];
  let dense = false;
  let betweenTrials = JOBS;
  let sinceTrial = JOBS;

  const isQuick = (): boolean => starts.length === JOBS && nowMs() - starts[0]! < WITHIN_MS;

  return {
    noteStart: () => {
      sinceTrial += 1;
      starts.push(nowMs());
      if (starts.length > JOBS) starts.shift();
    },
    noteLook: (gathered) => {
      if (!dense) {
        dense = gathered > 0 && sinceTrial >= betweenTrials && isQuick();
        return;
      }
      dense = gathered >= LEAST_GATHERED;
      sinceTrial = 0;
      betweenTrials = dense ? JOBS : Math.min(betweenTrials * 2, MOST_JOBS_BETWEEN);
    },
    isDense: () => dense,
  };
}
