/** A signal that may be raised often and is given seldom. */
export interface Hint {
  readonly raise: () => void;
  /** Gives at once what was raised and not given. */
  readonly flush: () => void;
  readonly close: () => void;
}

/** Below what a caller notices, above the gap between results at a rate where saving commands counts. */
const GAP_MS = 10;

/** Gives the first signal at once, and those of the next ten milliseconds together at their end. */
export function createHint(give: () => void, gapMs: number = GAP_MS): Hint {
  let timer: NodeJS.Timeout | undefined;
  let raised = false;

  const giveNow = (): void => {
    raised = false;
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      if (raised) giveNow();
    }, gapMs);
    give();
  };

  return {
    raise: () => {
      raised = true;
      if (timer === undefined) giveNow();
    },
    flush: () => {
      if (raised) giveNow();
    },
    close: () => clearTimeout(timer),
  };
}
