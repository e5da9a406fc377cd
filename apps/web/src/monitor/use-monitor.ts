import { isFinalRefusal, type Client, type LostConnection } from '@vantage/client';
import type { Monitor } from '@vantage/contract';
import { useEffect, useState } from 'preact/hooks';

import { retried, type ConnectionProblem } from '../connection/connection-problem.ts';
import { faultText, NEVER_MS, retryAfterMs } from '../faults.ts';

export type MonitorView =
  | { readonly kind: 'loading'; readonly connectionProblem?: ConnectionProblem | undefined }
  /** There is no such monitor, or it was removed. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'shown'; readonly monitor: Monitor; readonly connectionProblem?: ConnectionProblem | undefined };

const READ_AGAIN_MS = 2_000;
/** Time for which events are collected before the monitor is read. */
const TOGETHER_MS = 100;
/** An interruption is displayed if the wait before the next attempt is at least this long. */
const TROUBLE_FROM_MS = 1_000;

/** A monitor with its runs, read again after its events. */
export function useMonitor(client: Client, name: string): MonitorView {
  const [view, show] = useState<MonitorView>({ kind: 'loading' });
  useEffect(() => {
    const ended = new AbortController();
    observeMonitor(client, name, ended.signal, show).catch((error: unknown) => {
      if (ended.signal.aborted) return;
      if (isFinalRefusal(error) && error.status === 404) return show({ kind: 'gone' });
      const text = faultText(error);
      show((before) =>
        before.kind === 'shown'
          ? { ...before, connectionProblem: { text, retryAt: undefined } }
          : { kind: 'failed', message: text },
      );
    });
    return () => ended.abort();
  }, [client, name]);
  return view;
}

/** Rejects when the events are refused, as those of a removed monitor, or `signal` aborts. */
async function observeMonitor(
  client: Client,
  name: string,
  signal: AbortSignal,
  show: (view: MonitorView) => void,
): Promise<void> {
  let monitor: Monitor | undefined;
  let connectionProblem: ConnectionProblem | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let [isReading, isAgain, isOver] = [false, false, false];
  const render = (): void => {
    if (isOver) return;
    show(
      monitor === undefined ? { kind: 'loading', connectionProblem } : { kind: 'shown', monitor, connectionProblem },
    );
  };
  const read = async (): Promise<void> => {
    timer = undefined;
    [isReading, isAgain] = [true, false];
    let waitMs = TOGETHER_MS;
    try {
      monitor = await client.monitor(name, { signal });
      render();
    } catch (error) {
      // A final refusal is shown if the event stream is refused, too.
      if (isFinalRefusal(error)) return;
      [isAgain, waitMs] = [true, retryAfterMs(error, READ_AGAIN_MS)];
    } finally {
      isReading = false;
    }
    if (isAgain) readSoon(waitMs);
  };
  const readSoon = (waitMs: number): void => {
    if (isReading) isAgain = true;
    else if (!isOver) timer ??= setTimeout(() => void read(), waitMs);
  };
  const onProblem = (problem: ConnectionProblem | undefined): void => {
    connectionProblem = problem;
    render();
  };
  const onConnection = (lost: LostConnection | undefined): void => {
    if (connectionProblem === undefined && (lost === undefined || lost.waitMs < TROUBLE_FROM_MS)) return;
    onProblem(lost && { text: faultText(lost.failure), retryAt: performance.now() + lost.waitMs });
  };
  const follow = async (): Promise<void> => {
    for await (const _event of client.watchMonitor(name, { signal, onConnection, giveUpAfterMs: NEVER_MS })) {
      readSoon(TOGETHER_MS);
    }
  };
  try {
    await retried(follow, { signal, onProblem });
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}
