/** Partial results of a run. */
export interface Partials<T> {
  /** Replaces the state that waits to be published. Cheap: it publishes nothing itself. */
  readonly offer: (state: T) => void;
  /** Ends the run: publishes no further state of it. */
  readonly close: () => void;
}

/** The states of all runs of a probe, published together and at most once per interval. */
export interface PartialsOfProbe {
  readonly open: <T>(show: (state: T) => void) => Partials<T>;
}

export interface PartialTimes {
  readonly everyMs: number;
  /** Delay of a partial result: the run often ends just afterwards, and its final result replaces it. */
  readonly holdMs: number;
}

const standardTimes: PartialTimes = { everyMs: 250, holdMs: 50 };

interface Waiting {
  readonly sinceMs: number;
  readonly showNewest: () => void;
}

export function createPartials(times: Partial<PartialTimes> = {}): PartialsOfProbe {
  const { everyMs, holdMs } = { ...standardTimes, ...times };
  const waiting = new Map<object, Waiting>();
  let shownMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  const showRipe = (): void => {
    timer = undefined;
    const nowMs = performance.now();
    // A timer may be early by a part of a millisecond.
    const ripe = [...waiting].filter(([, { sinceMs }]) => nowMs - sinceMs > holdMs - 1);
    if (ripe.length > 0) shownMs = nowMs;
    for (const [run] of ripe) waiting.delete(run);
    for (const [, { showNewest }] of ripe) showNewest();
    schedule();
  };

  const schedule = (): void => {
    const [oldest] = waiting.values();
    if (oldest === undefined || timer !== undefined) return;
    const dueMs = Math.max(oldest.sinceMs + holdMs, shownMs + everyMs);
    // The difference is negative after a stall of the process since `nowMs` or `sinceMs` was read.
    timer = setTimeout(showRipe, Math.max(0, dueMs - performance.now()));
  };

  return {
    open: <T>(show: (state: T) => void): Partials<T> => {
      const run = {};
      let newest: T;
      let isOpen = true;
      return {
        offer: (state) => {
          if (!isOpen) return;
          newest = state;
          if (waiting.has(run)) return;
          waiting.set(run, { sinceMs: performance.now(), showNewest: () => show(newest) });
          schedule();
        },
        close: () => {
          isOpen = false;
          waiting.delete(run);
          if (waiting.size > 0) return;
          clearTimeout(timer);
          timer = undefined;
        },
      };
    },
  };
}
