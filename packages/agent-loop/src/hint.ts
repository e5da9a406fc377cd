import { createPace, type Pace } from './pace.ts';

/** A signal that may be raised often and is given seldom. */
export interface Hint<Note> {
  /** @param note goes along where the signal is given at once, for this alone */
  readonly raise: (note?: Note) => void;
  /** Gives at once what was raised and not given. */
  readonly flush: () => void;
  readonly close: () => void;
}

/** Two signals per burst of results: one for the first at once, one for the rest. */
const GAP_MS = 5;
/** Where results come in bunches a signal waits for those that follow at once … */
const COLLECT_MS = 8;
/** … and follows the one before after this time at the earliest. */
const DENSE_GAP_MS = 30;

/** Gives a signal at once when it is alone, and together with others when many are raised. */
export function createHint<Note>(give: (note?: Note) => void, pace: Pace = createPace()): Hint<Note> {
  let timer: NodeJS.Timeout | undefined;
  let raised = 0;
  let givenMs = Number.NEGATIVE_INFINITY;

  const giveNow = (note?: Note): void => {
    clearTimeout(timer);
    timer = undefined;
    pace.noteGathered(raised);
    raised = 0;
    givenMs = performance.now();
    give(note);
  };

  return {
    raise: (note) => {
      raised += 1;
      pace.noteRaised();
      if (timer !== undefined) return;
      const sinceMs = performance.now() - givenMs;
      const waitMs = pace.isDense() ? Math.max(COLLECT_MS, DENSE_GAP_MS - sinceMs) : GAP_MS - sinceMs;
      if (waitMs <= 0) giveNow(note);
      else timer = setTimeout(() => giveNow(), waitMs);
    },
    flush: () => {
      if (raised > 0) giveNow();
    },
    close: () => clearTimeout(timer),
  };
}
