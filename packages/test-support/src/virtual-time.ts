import { jest } from '@jest/globals';

/**
 * Runs something by a clock that goes straight on to the next timer when nothing else is left to do. No wait takes time,
 * and a machine that stalls delays nothing: only for what has no real sockets, files or processes.
 */
export async function inVirtualTime<T>(run: () => Promise<T>): Promise<T> {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
  try {
    let isRunning = true;
    const running = run().finally(() => (isRunning = false));
    // The tick mode `nextAsync` does the same and creates a message channel per timer, most of the CPU time of such a test.
    while (isRunning) await jest.advanceTimersToNextTimerAsync();
    return await running;
  } finally {
    jest.useRealTimers();
  }
}

/** The virtual clock goes on at once by so many milliseconds, in which nothing runs, as in a stall of the machine. */
export function skip(milliseconds: number): void {
  const now = performance.now.bind(performance);
  performance.now = () => now() + milliseconds;
}
