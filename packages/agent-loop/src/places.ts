/** The places in which jobs run. One is held from before a job is taken until it has left the queue. */
export interface Places {
  readonly free: () => number;
  /** May hold more than there are: a job that has ended needs one to leave the queue. */
  readonly hold: (count: number) => void;
  readonly release: () => void;
  /** Resolves when `holds` is true, looked at whenever a place frees, when the time is up, or when they are closed. */
  readonly until: (holds: () => boolean, ms?: number) => Promise<void>;
  /** Ends every wait. Resolves when no place is held. */
  readonly close: () => Promise<void>;
}

export function createPlaces(count: number): Places {
  let emptied: PromiseWithResolvers<void> | undefined;
  let held = 0;
  let closed = false;
  let wake: (() => void) | undefined;

  return {
    free: () => count - held,
    hold: (more) => (held += more),
    release: () => {
      held -= 1;
      wake?.();
      if (held === 0) emptied?.resolve();
    },
    until: async (holds, ms) => {
      let isTimeUp = false;
      const timeUp = (): void => {
        isTimeUp = true;
        wake?.();
      };
      const timer = ms === undefined ? undefined : setTimeout(timeUp, ms);
      while (!holds() && !closed && !isTimeUp) {
        await new Promise<void>((resolve) => (wake = resolve));
      }
      wake = undefined;
      clearTimeout(timer);
    },
    close: () => {
      closed = true;
      wake?.();
      emptied = Promise.withResolvers();
      if (held === 0) emptied.resolve();
      return emptied.promise;
    },
  };
}
