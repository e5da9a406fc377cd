import { ProblemError, type Client } from '@vantage/client';
import { useEffect, useState } from 'preact/hooks';

/** One probe's result as the page reads it: the fields of the type are looked at by its view. */
export type Result = Readonly<Record<string, unknown>> & {
  readonly result: string;
  readonly rt?: number | null;
  readonly resolvedIp?: string | null;
  readonly error?: ShownFailure | null;
};

export interface ShownFailure {
  readonly code: string;
  readonly phase: string;
  readonly source: string;
  readonly message: string;
}

export interface ShownCheck {
  readonly testId: string;
  readonly type: string;
  readonly host: string;
  readonly status: string;
  readonly createdAt: string;
  readonly completedAt: string | null;
  readonly results: Readonly<Record<string, Result>>;
}

export type CheckState =
  | { readonly kind: 'loading' }
  /** There is no such check, or no more. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'shown'; readonly check: ShownCheck };

/** A check as it comes: what is there at once, then each change as the service tells it. */
export function useCheck(client: Client, id: string): CheckState {
  const [state, setState] = useState<CheckState>({ kind: 'loading' });
  useEffect(() => {
    const ended = new AbortController();
    setState({ kind: 'loading' });
    follow(client, id, ended.signal, setState).catch((error: unknown) => {
      if (ended.signal.aborted) return;
      if (error instanceof ProblemError && error.status === 404) setState({ kind: 'gone' });
      else setState({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
    });
    return () => ended.abort();
  }, [client, id]);
  return state;
}

/** A completed check has come as an event before that, and need not be read with its picture inside. */
const READ_AFTER_MS = 80;

/**
 * Events say what changes, and a completed check is one event; what the check is of, and which probes have said nothing
 * yet, is in its results. So both are asked for, unless the check is completed already.
 */
async function follow(
  client: Client,
  id: string,
  signal: AbortSignal,
  show: (state: CheckState) => void,
): Promise<void> {
  let base: ShownCheck | undefined;
  const changed: Record<string, Result> = Object.create(null) as Record<string, Result>;
  let reading: Promise<void> | undefined;
  const render = (): void => {
    if (base !== undefined) show({ kind: 'shown', check: { ...base, results: { ...base.results, ...changed } } });
  };
  const read = async (): Promise<void> => {
    const check = (await client.results(id, { signal })) as unknown as ShownCheck;
    base ??= check;
    render();
  };
  const readOnce = (): void => {
    // A fault of this one is a fault of the watch as well, which tries again.
    reading ??= read().catch(() => {
      reading = undefined;
    });
  };
  const soon = setTimeout(readOnce, READ_AFTER_MS);
  try {
    for await (const event of client.watch(id, { signal })) {
      if (event.type === 'completed') {
        show({ kind: 'shown', check: event.check as unknown as ShownCheck });
        return;
      }
      changed[event.probe] = event.result;
      readOnce();
      render();
    }
  } finally {
    clearTimeout(soon);
  }
}
