/** Spreads work over turns of the event loop, in order, so that a burst of it does not hold up other work. */
export interface Turns {
  readonly add: (work: () => void) => void;
}

export function createTurns(most: number): Turns {
  let waiting: (() => void)[] = [];
  let isPlanned = false;

  const run = (): void => {
    const now = waiting.slice(0, most);
    waiting = waiting.slice(most);
    isPlanned = waiting.length > 0;
    if (isPlanned) setImmediate(run);
    for (const work of now) work();
  };
  return {
    add: (work) => {
      waiting.push(work);
      if (isPlanned) return;
      isPlanned = true;
      setImmediate(run);
    },
  };
}
