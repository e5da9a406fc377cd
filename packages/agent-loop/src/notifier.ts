import { createPace, type Pace } from './pace.ts';

/** A rate-limited signal, such as that there are new results. */
export interface Notifier<Note> {
  /** @param note included in the signal if it is sent for this call only */
  readonly raise: (note?: Note) => void;
  /** Sends a pending signal at once. */
  readonly flush: () => void;
  readonly close: () => void;
}

/**
 * Shortest time between two signals, except by `flush`. A short burst has two: one for its first result at once, one
 * for the rest.
 */
const GAP_MS = 5;
/** Minimum time for which a signal waits for further results in load mode. */
const COLLECT_MS = 8;
/** Minimum time between two signals in load mode. */
const DENSE_GAP_MS = 30;

/**
 * Sends a signal at once if the last one is at least `GAP_MS` ago, and combines those of a burst. In load mode
 * (`Pace.isDense`) every signal waits for further ones.
 */
export function createNotifier<Note>(give: (note?: Note) => void, pace: Pace = createPace()): Notifier<Note> {
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
      else timer = setTimeout(() => giveNow(raised === 1 ? note : undefined), waitMs);
    },
    flush: () => {
      if (raised > 0) giveNow();
    },
    close: () => clearTimeout(timer),
  };
}
