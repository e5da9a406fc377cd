import type { Client } from '@vantage/client';
import type { Comparison } from '@vantage/contract';
import { useEffect, useState } from 'preact/hooks';

import type { CheckData } from '../check/use-check.ts';
import { faultText, isFinalRefusal, retryAfterMs } from '../faults.ts';

export interface Compared {
  readonly comparison: Comparison;
  readonly a: CheckData;
  readonly b: CheckData;
}

export type ComparisonState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'shown'; readonly compared: Compared };

const [WAIT_SECONDS, RETRY_MS] = [25, 2_000];

/** Waits until both checks are completed, then compares them. */
export function useComparison(client: Client, a: string, b: string): ComparisonState {
  const [state, setState] = useState<ComparisonState>({ kind: 'loading' });
  useEffect(() => {
    const ended = new AbortController();
    setState({ kind: 'loading' });
    load(client, [a, b], ended.signal).then(
      (compared) => setState({ kind: 'shown', compared }),
      (error: unknown) => {
        if (!ended.signal.aborted) setState({ kind: 'failed', message: faultText(error) });
      },
    );
    return () => ended.abort();
  }, [client, a, b]);
  return state;
}

async function load(client: Client, ids: readonly [string, string], signal: AbortSignal): Promise<Compared> {
  const [a, b] = await Promise.all(ids.map((id) => completed(client, id, signal)));
  const comparison = await retried(() => client.compare(...ids, { signal }), signal);
  return { comparison, a: a!, b: b! };
}

async function completed(client: Client, id: string, signal: AbortSignal): Promise<CheckData> {
  for (;;) {
    const check = await retried(() => client.results(id, { signal, waitSeconds: WAIT_SECONDS }), signal);
    if (check.status === 'completed') return check;
  }
}

/** Repeats a call that fails, unless with a final refusal, up to `MOST_ATTEMPTS` calls in all. */
async function retried<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (signal.aborted || isFinalRefusal(error) || attempt === MOST_ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryAfterMs(error, RETRY_MS)));
    }
  }
}

const MOST_ATTEMPTS = 5;
