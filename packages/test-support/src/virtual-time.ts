import { jest } from '@jest/globals';

/** Taken before any test replaces it. */
const { setImmediate: inNextTurn } = globalThis;

/**
 * Runs a function with a clock that advances to the next timer when nothing else is pending. Waits take no time, and
 * stalls of the machine have no effect. Only for code without real sockets, files or processes.
 */
export async function inVirtualTime<T>(run: () => Promise<T>): Promise<T> {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
  try {
    let isRunning = true;
    const running = run().finally(() => (isRunning = false));
    // The asynchronous functions of Jest would wait real time for each timer.
    for (;;) {
      await new Promise((resolve) => inNextTurn(resolve));
      if (!isRunning) break;
      jest.advanceTimersToNextTimer();
    }
    return await running;
  } finally {
    jest.useRealTimers();
  }
}

/** Moves `performance.now` forward to simulate a stall. `Date` and the due times of timers do not change. */
export function skip(milliseconds: number): void {
  const now = performance.now.bind(performance);
  performance.now = () => now() + milliseconds;
}
