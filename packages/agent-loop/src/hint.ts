/** A signal that may be raised often and is given seldom. */
export interface Hint<Note> {
  /** @param note goes along where the signal is given at once, for this alone */
  readonly raise: (note?: Note) => void;
  /** Gives at once what was raised and not given. */
  readonly flush: () => void;
  readonly close: () => void;
}

/** A burst of results is told by two signals: the first at once, and one for the rest. */
const GAP_MS = 5;
/** Where results come in bunches a signal waits for those that follow at once … */
const COLLECT_MS = 8;
/** … and follows the one before after this time at the earliest. */
const DENSE_GAP_MS = 30;

/**
 * Gives a signal at once when it is alone, and together with others when many are raised.
 *
 * @param isDense whether so many results come that saving signals counts
 */
export function createHint<Note>(give: (note?: Note) => void, isDense: () => boolean): Hint<Note> {
  let timer: NodeJS.Timeout | undefined;
  let raised = false;
  let givenMs = Number.NEGATIVE_INFINITY;

  const giveNow = (note?: Note): void => {
    clearTimeout(timer);
    timer = undefined;
    raised = false;
    givenMs = performance.now();
    give(note);
  };

  return {
    raise: (note) => {
      raised = true;
      if (timer !== undefined) return;
      const sinceMs = performance.now() - givenMs;
      const waitMs = isDense() ? Math.max(COLLECT_MS, DENSE_GAP_MS - sinceMs) : GAP_MS - sinceMs;
      if (waitMs <= 0) giveNow(note);
      else timer = setTimeout(() => giveNow(), waitMs);
    },
    flush: () => {
      if (raised) giveNow();
    },
    close: () => clearTimeout(timer),
  };
}
