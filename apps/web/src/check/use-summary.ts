import type { Client } from '@vantage/client';
import type { Summary } from '@vantage/contract';
import { useEffect, useState } from 'preact/hooks';

import { isFinalRefusal, retryAfterMs } from '../faults.ts';

/** While answers come in, the summary is asked for at most this often: it counts on the limit of its own. */
const EVERY_MS = 4000;

/**
 * What the results mean together: so far, and then finally.
 *
 * @param answered how many probes have answered; a change of it is a reason to ask again
 */
export function useSummary(client: Client, id: string, answered: number, isCompleted: boolean): Summary | undefined {
  const [summary, setSummary] = useState<Summary>();
  const [askedAt, setAskedAt] = useState(-EVERY_MS);
  const isFinal = summary?.checkId === id && summary.status === 'completed';
  useEffect(() => {
    if (isFinal || (answered === 0 && !isCompleted)) return undefined;
    const ended = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = (): void => {
      setAskedAt(performance.now());
      client.summary(id, { signal: ended.signal }).then(setSummary, (error: unknown) => {
        // Too many requests, or the service is away for a moment: what the probes say is on the page all the same.
        if (ended.signal.aborted || !isCompleted || isFinalRefusal(error)) return;
        timer = setTimeout(ask, retryAfterMs(error, EVERY_MS));
      });
    };
    const waitMs = isCompleted ? 0 : Math.max(0, askedAt + EVERY_MS - performance.now());
    timer = setTimeout(ask, waitMs);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [client, id, answered, isCompleted, isFinal]);
  return summary?.checkId === id ? summary : undefined;
}
