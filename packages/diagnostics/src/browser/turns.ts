/** Limits concurrency; further callers wait in order. */
export interface Turns {
  /**
   * Waits for a slot.
   *
   * @returns a function that releases the slot; `full` if the queue is full, `aborted` if the signal aborts first
   */
  readonly take: (signal: AbortSignal) => Promise<(() => void) | 'full' | 'aborted'>;
  readonly running: () => number;
  readonly waiting: () => number;
}

export function turns(atOnce: number, mayWait: number): Turns {
  const queue: (() => void)[] = [];
  let running = 0;

  const end = (): void => {
    running -= 1;
    queue.shift()?.();
  };
  const begin = (): (() => void) => {
    running += 1;
    return end;
  };
  const take: Turns['take'] = async (signal) => {
    if (signal.aborted) return 'aborted';
    if (running < atOnce) return begin();
    if (queue.length >= mayWait) return 'full';
    return new Promise((resolve) => {
      const start = (): void => {
        signal.removeEventListener('abort', leave);
        resolve(begin());
      };
      const leave = (): void => {
        queue.splice(queue.indexOf(start), 1);
        resolve('aborted');
      };
      signal.addEventListener('abort', leave);
      queue.push(start);
    });
  };
  return { take, running: () => running, waiting: () => queue.length };
}
