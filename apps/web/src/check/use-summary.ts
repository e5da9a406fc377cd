import { isFinalRefusal, type Client } from '@vantage/client';
import type { Summary } from '@vantage/contract';
import { useEffect, useState } from 'preact/hooks';

import { faultText, retryAfterMs } from '../faults.ts';
import type { ConnectionProblem } from '../connection/connection-problem.ts';

/** Minimum interval of requests while results arrive: summaries count against the client's rate limit. */
const EVERY_MS = 4000;

export interface SummaryState {
  readonly summary: Summary | undefined;
  /** Reason why a completed check has no final summary yet. */
  readonly problem: ConnectionProblem | undefined;
}

/**
 * Fetches the summary, preliminary and then final.
 *
 * @param answered number of answered probes; a change triggers a request
 */
export function useSummary(client: Client, id: string, answered: number, isCompleted: boolean): SummaryState {
  const [summary, setSummary] = useState<Summary>();
  const [problem, setProblem] = useState<ConnectionProblem>();
  const [askedAt, setAskedAt] = useState(-EVERY_MS);
  const isFinal = summary?.checkId === id && summary.status === 'completed';
  useEffect(() => {
    if (isFinal || (answered === 0 && !isCompleted)) return undefined;
    const ended = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = (): void => {
      setAskedAt(performance.now());
      client.summary(id, { signal: ended.signal }).then(
        (received) => {
          setSummary(received);
          setProblem(undefined);
          if (ended.signal.aborted || !isCompleted || received.status === 'completed') return;
          // The browser may have answered with a summary that it preloaded before the check was completed.
          timer = setTimeout(ask, hasAskedTwice ? EVERY_MS : 0);
          hasAskedTwice = true;
        },
        (error: unknown) => {
          // Before the check is completed, its next change triggers a request.
          if (ended.signal.aborted || !isCompleted) return;
          const againMs = isFinalRefusal(error) ? undefined : retryAfterMs(error, EVERY_MS);
          setProblem({ text: faultText(error), retryAt: againMs && performance.now() + againMs });
          if (againMs !== undefined) timer = setTimeout(ask, againMs);
        },
      );
    };
    let hasAskedTwice = false;
    const waitMs = isCompleted ? 0 : Math.max(0, askedAt + EVERY_MS - performance.now());
    timer = setTimeout(ask, waitMs);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [client, id, answered, isCompleted, isFinal]);
  // A preliminary summary is older than the final results, and stays so while the final one cannot be read.
  const isOutdated = isCompleted && !isFinal && problem !== undefined;
  return {
    summary: summary?.checkId === id && !isOutdated ? summary : undefined,
    problem: isFinal ? undefined : problem,
  };
}
