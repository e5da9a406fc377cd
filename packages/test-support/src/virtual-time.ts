import { jest } from '@jest/globals';

/**
 * Runs a function with a clock that advances to the next timer when nothing else is pending. Waits take no time, and
 * stalls delay nothing. Only for code without real sockets, files or processes.
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

/** Advances the virtual clock without running anything, as in a stall of the machine. */
export function skip(milliseconds: number): void {
  const now = performance.now.bind(performance);
  performance.now = () => now() + milliseconds;
}
