import { isFinalRefusal, type Client, type LostConnection } from '@vantage/client';
import type { PublicRequest } from '@vantage/contract';
import { useEffect, useState } from 'preact/hooks';

import { faultText, NEVER_MS } from '../faults.ts';
import { retried, type ConnectionProblem } from '../connection/connection-problem.ts';
import { delayReading } from './delay-reading.ts';

/** One probe's result; views interpret the fields of its type. */
export type Result = Readonly<Record<string, unknown>> & {
  readonly result: string;
  readonly rt?: number | null;
  readonly resolvedIp?: string | null;
  readonly error?: FailureData | null;
};

export interface FailureData {
  readonly code: string;
  readonly phase: string;
  readonly source: string;
  readonly message: string;
}

export interface CheckData {
  readonly testId: string;
  readonly type: string;
  readonly host: string;
  /** The two probes of a check that measures between them; absent otherwise. */
  readonly between?: readonly string[];
  /** Locations of the request without a probe that could run the check; absent if there are none. */
  readonly emptyLocations?: readonly string[];
  /** The request without what is withheld; undefined in a check that an earlier release stored. */
  readonly request?: PublicRequest;
  readonly status: string;
  readonly createdAt: string;
  readonly completedAt: string | null;
  readonly results: Readonly<Record<string, Result>>;
}

export type CheckState =
  | { readonly kind: 'loading'; readonly connectionProblem?: ConnectionProblem | undefined }
  /** The check does not exist or has expired; `reason` if the service removed it early. */
  | { readonly kind: 'gone'; readonly reason?: string }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'shown'; readonly check: CheckData; readonly connectionProblem?: ConnectionProblem | undefined };

/** State of a check, updated by `observeCheck`. */
export function useCheck(client: Client, id: string): CheckState {
  const [state, setState] = useState<CheckState>({ kind: 'loading' });
  useEffect(() => {
    const ended = new AbortController();
    setState({ kind: 'loading' });
    observeCheck(client, id, ended.signal, setState).catch((error: unknown) => {
      if (ended.signal.aborted) return;
      setState((before) => afterRefusal(error, before));
    });
    return () => ended.abort();
  }, [client, id]);
  return state;
}

/** The state after an error that does not pass. Measured results stay visible. */
export function afterRefusal(error: unknown, before: CheckState): CheckState {
  const text = faultText(error);
  if (before.kind === 'shown') return { ...before, connectionProblem: { text, retryAt: undefined } };
  if (!isFinalRefusal(error)) return { kind: 'failed', message: text };
  if (error.status === 410) return { kind: 'gone', reason: text };
  return error.status === 404 ? { kind: 'gone' } : { kind: 'failed', message: text };
}

const RENDER_EVERY_MS = 30;
/** An interruption is displayed if the wait before the next attempt is at least this long. */
const TROUBLE_FROM_MS = 1000;

/**
 * Follows a check: the current state, then each change. The events of probes contain their changes only; host, options
 * and unanswered probes are in the results. These are requested after a delay, or as soon as an event shows a pending
 * probe: the events of a check that is already completed usually end before that, and make the request unnecessary.
 */
export async function observeCheck(
  client: Client,
  id: string,
  signal: AbortSignal,
  show: (state: CheckState) => void,
): Promise<void> {
  let base: CheckData | undefined;
  const changed: Record<string, Result> = Object.create(null) as Record<string, Result>;
  let connectionProblem: ConnectionProblem | undefined;
  let isOver = false;
  let isFirst = true;
  let soonRendered: ReturnType<typeof setTimeout> | undefined;
  const render = (): void => {
    // The results may arrive after the `completed` event, and are then older than the event.
    if (isOver || base === undefined) return;
    // Collects events for `RENDER_EVERY_MS`, because each rendering is expensive.
    soonRendered ??= setTimeout(() => {
      soonRendered = undefined;
      if (isOver) return;
      show({ kind: 'shown', check: { ...base!, results: { ...base!.results, ...changed } }, connectionProblem });
    }, RENDER_EVERY_MS);
  };
  const reading = delayReading(async () => {
    const check = (await client.results(id, { signal })) as unknown as CheckData;
    base ??= check;
    render();
  });
  const onProblem = (problem: ConnectionProblem | undefined): void => {
    connectionProblem = problem;
    if (base === undefined) show({ kind: 'loading', connectionProblem });
    else render();
  };
  const onConnection = (lost: LostConnection | undefined): void => {
    if (connectionProblem === undefined && (lost === undefined || lost.waitMs < TROUBLE_FROM_MS)) return;
    onProblem(lost && { text: faultText(lost.failure), retryAt: performance.now() + lost.waitMs });
  };
  const follow = async (): Promise<CheckData> => {
    for await (const event of client.watch(id, { signal, onConnection, giveUpAfterMs: NEVER_MS })) {
      if (event.type === 'completed') return event.check;
      changed[event.probe] = event.result;
      if (event.result.result === 'pending') reading.now();
      else if (isFirst) reading.later();
      isFirst = false;
      render();
    }
    // The service has no newer event; the results contain the final state.
    return await client.results(id, { signal });
  };
  reading.later();
  try {
    const check = await retried(follow, { signal, onProblem });
    isOver = true;
    show({ kind: 'shown', check });
  } finally {
    isOver = true;
    reading.close();
  }
}
