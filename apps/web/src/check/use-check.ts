import { ProblemError, type Client, type LostConnection } from '@vantage/client';
import { useEffect, useState } from 'preact/hooks';

import { faultText, retryAfterMs } from '../faults.ts';

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

/** Why nothing newer can be shown of a check. */
export interface Trouble {
  readonly text: string;
  /** When it is tried again, as milliseconds of `performance.now()`; undefined where it is not. */
  readonly retryAt: number | undefined;
}

export type CheckState =
  | { readonly kind: 'loading'; readonly trouble?: Trouble | undefined }
  /** There is no such check, or no more. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'shown'; readonly check: ShownCheck; readonly trouble?: Trouble | undefined };

/** A check as `followCheck` shows it. */
export function useCheck(client: Client, id: string): CheckState {
  const [state, setState] = useState<CheckState>({ kind: 'loading' });
  useEffect(() => {
    const ended = new AbortController();
    setState({ kind: 'loading' });
    followCheck(client, id, ended.signal, setState).catch((error: unknown) => {
      if (ended.signal.aborted) return;
      if (error instanceof ProblemError && error.status === 404) return setState({ kind: 'gone' });
      const text = faultText(error);
      // What has been measured stays on the page.
      setState((before) =>
        before.kind === 'shown'
          ? { ...before, trouble: { text, retryAt: undefined } }
          : { kind: 'failed', message: text },
      );
    });
    return () => ended.abort();
  }, [client, id]);
  return state;
}

/** A completed check has come as an event before that, and need not be read with its picture inside. */
const READ_AFTER_MS = 80;
const READ_AGAIN_MS = 2000;
/** A connection that is back sooner is not worth a word. */
const TROUBLE_FROM_MS = 1000;

/**
 * Shows a check as it comes: what is there at once, then each change as the service tells it. Events say what changes, and
 * a completed check is one event; what the check is of, and which probes have said nothing yet, is in its results. So both
 * are asked for, unless the check is completed already.
 */
export async function followCheck(
  client: Client,
  id: string,
  signal: AbortSignal,
  show: (state: CheckState) => void,
): Promise<void> {
  let base: ShownCheck | undefined;
  const changed: Record<string, Result> = Object.create(null) as Record<string, Result>;
  let reading: Promise<void> | undefined;
  let trouble: Trouble | undefined;
  let isOver = false;
  const render = (): void => {
    // What was read of a check may come after the event that it is completed, and knows less.
    if (isOver || base === undefined) return;
    show({ kind: 'shown', check: { ...base, results: { ...base.results, ...changed } }, trouble });
  };
  const read = async (): Promise<void> => {
    const check = (await client.results(id, { signal })) as unknown as ShownCheck;
    base ??= check;
    render();
  };
  const readOnce = (): void => {
    reading ??= read().catch((error: unknown) => {
      if (isOver) return;
      // Not with each event: a limit that is used up stays so for a while.
      soon = setTimeout(
        () => {
          reading = undefined;
          readOnce();
        },
        retryAfterMs(error, READ_AGAIN_MS),
      );
    });
  };
  const onConnection = (lost: LostConnection | undefined): void => {
    if (trouble === undefined && (lost === undefined || lost.waitMs < TROUBLE_FROM_MS)) return;
    trouble = lost && { text: faultText(lost.failure), retryAt: performance.now() + lost.waitMs };
    if (base === undefined) show({ kind: 'loading', trouble });
    else render();
  };
  let soon = setTimeout(readOnce, READ_AFTER_MS);
  try {
    for await (const event of client.watch(id, { signal, onConnection })) {
      if (event.type === 'completed') {
        show({ kind: 'shown', check: event.check as unknown as ShownCheck });
        return;
      }
      changed[event.probe] = event.result;
      readOnce();
      render();
    }
    // The service has nothing newer to say than was heard: what that came to is in the results.
    show({ kind: 'shown', check: (await client.results(id, { signal })) as unknown as ShownCheck });
  } finally {
    isOver = true;
    clearTimeout(soon);
  }
}
