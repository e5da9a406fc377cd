import type { Client } from '@vantage/client';
import type { Comparison } from '@vantage/contract';
import { useEffect, useState } from 'preact/hooks';

import { retried, type Attempts, type ConnectionProblem } from '../connection/connection-problem.ts';
import type { CheckData } from '../check/use-check.ts';
import { faultText } from '../faults.ts';

export interface Compared {
  readonly comparison: Comparison;
  readonly a: CheckData;
  readonly b: CheckData;
}

export type ComparisonState =
  | { readonly kind: 'loading'; readonly connectionProblem?: ConnectionProblem | undefined }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'shown'; readonly compared: Compared };

const WAIT_SECONDS = 25;

/** Waits until both checks are completed, then compares them. */
export function useComparison(client: Client, a: string, b: string): ComparisonState {
  const [state, setState] = useState<ComparisonState>({ kind: 'loading' });
  useEffect(() => {
    const ended = new AbortController();
    setState({ kind: 'loading' });
    const onProblem = (connectionProblem: ConnectionProblem | undefined): void => {
      if (!ended.signal.aborted) setState({ kind: 'loading', connectionProblem });
    };
    load(client, [a, b], { signal: ended.signal, onProblem }).then(
      (compared) => setState({ kind: 'shown', compared }),
      (error: unknown) => {
        if (ended.signal.aborted) return;
        // The other check may still be polled.
        ended.abort();
        setState({ kind: 'failed', message: faultText(error) });
      },
    );
    return () => ended.abort();
  }, [client, a, b]);
  return state;
}

async function load(client: Client, ids: readonly [string, string], attempts: Attempts): Promise<Compared> {
  const { signal } = attempts;
  const [a, b] = await Promise.all(ids.map((id) => completed(client, id, attempts)));
  const comparison = await retried(() => client.compare(...ids, { signal }), attempts);
  return { comparison, a: a!, b: b! };
}

async function completed(client: Client, id: string, attempts: Attempts): Promise<CheckData> {
  const { signal } = attempts;
  for (;;) {
    // After a failure, the read does not wait for the completion: the page would report the failure until its end.
    const read = (hasFailed: boolean): Promise<unknown> =>
      client.results(id, { signal, waitSeconds: hasFailed ? 0 : WAIT_SECONDS });
    const check = (await retried(read, attempts)) as CheckData;
    if (check.status === 'completed') return check;
  }
}
