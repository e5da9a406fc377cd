import { isFinalRefusal } from '@vantage/client';

import { faultText, retryAfterMs } from '../faults.ts';

/** Reason why a page is not updated. */
export interface ConnectionProblem {
  readonly text: string;
  /** Time of the next attempt, in milliseconds of `performance.now()`; undefined if there is none. */
  readonly retryAt: number | undefined;
}

export interface Attempts {
  readonly signal: AbortSignal;
  /** Called after a temporary failure, and with undefined after the next success. */
  readonly onProblem: (problem: ConnectionProblem | undefined) => void;
}

const RETRY_MS = 2_000;

/** Repeats a call that fails, unless with a final refusal. */
export async function retried<T>(
  call: (hasFailed: boolean) => Promise<T>,
  { signal, onProblem }: Attempts,
): Promise<T> {
  for (let hasFailed = false; ; hasFailed = true) {
    try {
      const value = await call(hasFailed);
      if (hasFailed) onProblem(undefined);
      return value;
    } catch (error) {
      if (signal.aborted || isFinalRefusal(error)) throw error;
      const againMs = retryAfterMs(error, RETRY_MS);
      onProblem({ text: faultText(error), retryAt: performance.now() + againMs });
      await new Promise((resolve) => setTimeout(resolve, againMs));
      signal.throwIfAborted();
    }
  }
}
