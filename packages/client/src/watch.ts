import type { Check, EventResult, ProbeEvent } from '@vantage/contract';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

import { createEventParser, type StreamPart } from './event-parser.ts';
import { problemError, ProblemError } from './problem-error.ts';
import type { ResultOf } from './requests.ts';

/** What `watch` yields. A picture is in no event: its `screenshotUrl` is. */
export type CheckEvent<Name extends CheckTypeName = CheckTypeName> =
  | {
      readonly type: 'probe';
      /** Counts up per check. */
      readonly version: number;
      readonly probe: string;
      /** `pending` with what the probe has shown so far, or final. */
      readonly result: EventResult<ResultOf<Name>>;
    }
  /** The last one. */
  | { readonly type: 'completed'; readonly version: number; readonly check: Check<EventResult<ResultOf<Name>>> };

export interface WatchOptions {
  readonly signal?: AbortSignal;
  /** Leaves out what is no newer than this version: one that an earlier watch has seen. */
  readonly after?: number;
  /** Rejects when it has waited this long in all for a service that cannot be reached; 60,000 if absent, 0 never waits. */
  readonly giveUpAfterMs?: number;
  /** Told that the connection is lost, or was not to be had; and with undefined that it stands. */
  readonly onConnection?: ((lost: LostConnection | undefined) => void) | undefined;
}

export interface LostConnection {
  /** Why: a `ProblemError` where the service refuses. */
  readonly failure: unknown;
  /** How long it waits before it connects again, milliseconds. */
  readonly waitMs: number;
}

const GIVE_UP_AFTER_MS = 60_000;
const SHORTEST_RETRY_MS = 125;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5_000;
/** Longer than a service asks for, and no more than a timer can take. */
const LONGEST_ASKED_MS = 30_000;
/** Two heartbeats of 15 s did not come: the connection is dead, though nobody said so. */
const SILENCE_MS = 35_000;
const MEDIA_TYPE = 'text/event-stream';

/** What the connections of one watch have come to. */
interface Progress {
  lastEventId: string;
  /** What the service asked for, milliseconds. */
  retryMs: number | undefined;
  /** The service was heard since this was last set to false. */
  isHeard: boolean;
}

/** @param open starts a request for the event stream */
export async function* watchCheck<Name extends CheckTypeName>(
  open: (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>,
  { signal, after, giveUpAfterMs = GIVE_UP_AFTER_MS, onConnection }: WatchOptions,
): AsyncGenerator<CheckEvent<Name>, void, undefined> {
  const progress: Progress = {
    lastEventId: after === undefined ? '' : String(after),
    retryMs: undefined,
    isHeard: false,
  };
  // What was waited, not what time it is: a machine may have slept.
  let waitedMs = 0;
  for (let failures = 0; ; failures += 1) {
    signal?.throwIfAborted();
    progress.isHeard = false;
    let failure: unknown;
    try {
      for await (const event of readOnce<Name>(open, progress, { signal, onConnection })) {
        yield event;
        if (event.type === 'completed') return;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ProblemError && isFinal(error)) throw error;
      failure = error;
    }
    if (failure === NOTHING_MORE) return;
    if (progress.isHeard) [failures, waitedMs] = [0, 0];
    if (waitedMs >= giveUpAfterMs) throw failure ?? new Error('The event stream ends again and again.');
    const nextMs = Math.min(waitMs(failure, failures, progress), giveUpAfterMs - waitedMs);
    waitedMs += nextMs;
    // An end in order is no loss.
    if (failure !== undefined) onConnection?.({ failure, waitMs: nextMs });
    await pause(nextMs, signal);
  }
}

const NOTHING_MORE = Symbol('the service has nothing newer to say, now or later');

async function* readOnce<Name extends CheckTypeName>(
  open: (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>,
  progress: Progress,
  { signal, onConnection }: { readonly [Name in 'signal' | 'onConnection']: WatchOptions[Name] | undefined },
): AsyncGenerator<CheckEvent<Name>, void, undefined> {
  const connection = new AbortController();
  const onAbort = (): void => connection.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const isSilent = (): void => connection.abort(new Error('The event stream fell silent.'));
  let silence = setTimeout(isSilent, SILENCE_MS);
  const heard = (): void => {
    progress.isHeard = true;
    clearTimeout(silence);
    silence = setTimeout(isSilent, SILENCE_MS);
  };
  try {
    const { lastEventId } = progress;
    const resumed = lastEventId === '' ? {} : { 'last-event-id': lastEventId };
    const response = await open({ accept: MEDIA_TYPE, ...resumed }, connection.signal);
    if (!response.ok) throw await problemError(response);
    if (response.status === 204) throw NOTHING_MORE;
    if (response.headers.get('content-type')?.split(';', 1)[0] !== MEDIA_TYPE || response.body === null) {
      throw new Error('What answers is no event stream.');
    }
    onConnection?.(undefined);
    for await (const part of partsOf(response.body, heard)) {
      if (part.kind === 'retry') progress.retryMs = part.milliseconds;
      else {
        progress.lastEventId = part.id;
        const event = eventOf<Name>(part);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    clearTimeout(silence);
    signal?.removeEventListener('abort', onAbort);
    connection.abort();
  }
}

async function* partsOf(
  body: ReadableStream<Uint8Array>,
  heard: () => void,
): AsyncGenerator<StreamPart, void, undefined> {
  const parse = createEventParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    heard();
    yield* parse(decoder.decode(value, { stream: true }));
  }
}

/** Undefined for events that a later release may send. */
function eventOf<Name extends CheckTypeName>(
  part: StreamPart & { readonly kind: 'event' },
): CheckEvent<Name> | undefined {
  const version = Number(part.id);
  if (part.name === 'probe') {
    const { probe, result } = JSON.parse(part.data) as ProbeEvent<EventResult<ResultOf<Name>>>;
    return { type: 'probe', version, probe, result };
  }
  if (part.name !== 'completed') return undefined;
  return { type: 'completed', version, check: JSON.parse(part.data) as Check<EventResult<ResultOf<Name>>> };
}

/** Whether asking again would be answered the same. */
function isFinal({ status }: ProblemError): boolean {
  return status < 500 && ![408, 425, 429].includes(status);
}

function waitMs(failure: unknown, failures: number, { retryMs }: Progress): number {
  if (failure instanceof ProblemError && failure.retryAfterSeconds !== undefined) {
    return Math.max(failure.retryAfterSeconds * 1_000, SHORTEST_RETRY_MS);
  }
  // An end in order, as when a coordinator stops: when to return it has said itself.
  if (failure === undefined && failures === 0 && retryMs !== undefined) {
    return Math.min(Math.max(retryMs, SHORTEST_RETRY_MS), LONGEST_ASKED_MS);
  }
  const longest = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures, 10), LONGEST_RETRY_MS);
  return longest * (0.5 + Math.random() / 2);
}

async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  const onAbort = (): void => resolve();
  signal?.addEventListener('abort', onAbort, { once: true });
  await promise;
  clearTimeout(timer);
  signal?.removeEventListener('abort', onAbort);
}
