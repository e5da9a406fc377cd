import { readEvents, type StreamEvent } from './read-events.ts';
import { problemError, UnusableResponse } from './problem-error.ts';
import { delay, GIVE_UP_AFTER_MS, isFinalRefusal, waitMs } from './retries.ts';

export interface StreamOptions {
  readonly signal?: AbortSignal;
  /** Rejects after this total time of waiting for an unreachable service. Default: 60,000; 0: no waiting. */
  readonly giveUpAfterMs?: number;
  /** Called with the reason when a connection is lost or fails, and with undefined when it is established. */
  readonly onConnection?: ((lost: LostConnection | undefined) => void) | undefined;
}

export interface LostConnection {
  /** Reason; a `ProblemError` if the service refused. */
  readonly failure: unknown;
  /** Delay before the next connection attempt, milliseconds. */
  readonly waitMs: number;
}

/** Silence after which a connection is dead: two missed heartbeats (`EVENT_HEARTBEAT_MS`), and a margin. */
const SILENCE_MS = 20_000;
const MEDIA_TYPE = 'text/event-stream';

/** State shared by the connections of one watch. */
interface Progress {
  lastEventId: string;
  /** `retry` of the service, milliseconds. */
  retryMs: number | undefined;
  /** Set when data arrives; reset before each connection. */
  isHeard: boolean;
}

/** Requests an event stream. */
export type OpenStream = (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>;

/** How the events of a stream are read. */
export interface EventKind<Event> {
  /** Undefined for event types of later releases. */
  readonly read: (received: StreamEvent, lastEventId: string) => Event | undefined;
  readonly isLast: (event: Event) => boolean;
}

/**
 * The events of a stream; reconnects and resumes.
 *
 * @param after id of the last event that is known; empty: none
 */
export async function* watchStream<Event>(
  open: OpenStream,
  kind: EventKind<Event>,
  after: string,
  { signal, giveUpAfterMs = GIVE_UP_AFTER_MS, onConnection }: StreamOptions,
): AsyncGenerator<Event, void, undefined> {
  const progress: Progress = { lastEventId: after, retryMs: undefined, isHeard: false };
  // Sum of delays instead of elapsed time: a machine may have been suspended.
  let waitedMs = 0;
  for (let failures = 0; ; failures += 1) {
    signal?.throwIfAborted();
    progress.isHeard = false;
    let failure: unknown;
    try {
      for await (const event of readOnce(open, kind, progress, { signal, onConnection })) {
        yield event;
        if (kind.isLast(event)) return;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (isFinalRefusal(error)) throw error;
      failure = error;
    }
    if (failure === NOTHING_MORE) return;
    if (progress.isHeard) [failures, waitedMs] = [0, 0];
    if (waitedMs >= giveUpAfterMs) throw failure ?? new Error('The event stream ends again and again.');
    // Bounds the delay even if `giveUpAfterMs` is infinite: a proxy may ask for an hour by `Retry-After`.
    const longestMs = Math.min(GIVE_UP_AFTER_MS, giveUpAfterMs - waitedMs);
    const nextMs = Math.min(waitMs(failure, failures, progress.retryMs), longestMs);
    waitedMs += nextMs;
    // An orderly end is not a lost connection.
    if (failure !== undefined) onConnection?.({ failure, waitMs: nextMs });
    await delay(nextMs, signal);
  }
}

const NOTHING_MORE = Symbol('the service has nothing newer to say, now or later');

async function* readOnce<Event>(
  open: OpenStream,
  kind: EventKind<Event>,
  progress: Progress,
  { signal, onConnection }: { readonly [Name in 'signal' | 'onConnection']: StreamOptions[Name] | undefined },
): AsyncGenerator<Event, void, undefined> {
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
      throw new UnusableResponse('The response is not an event stream.');
    }
    onConnection?.(undefined);
    const onRetry = (milliseconds: number): void => void (progress.retryMs = milliseconds);
    for await (const received of readEvents(response.body, { onBytes: heard, onRetry })) {
      if (received.id !== undefined) progress.lastEventId = received.id;
      const event = kind.read(received, progress.lastEventId);
      if (event !== undefined) yield event;
    }
  } finally {
    clearTimeout(silence);
    signal?.removeEventListener('abort', onAbort);
    connection.abort();
  }
}
