import { problemError, UnusableResponse } from './problem-error.ts';
import { retried } from './retries.ts';
import type {
  Agents,
  CheckOf,
  CheckRequest,
  CheckStart,
  CheckTypeName,
  Comparison,
  Me,
  Monitor,
  MonitorRequest,
  Monitors,
  PairRequest,
  Probes,
  Summary,
} from './types.ts';
import {
  watchCheck,
  watchMonitor,
  type CheckEvent,
  type MonitorChange,
  type WatchMonitorOptions,
  type WatchOptions,
} from './watch.ts';

export interface ClientOptions {
  /** Base URL of the service, including a path prefix if there is one. */
  readonly baseUrl: string;
  /** API key, sent with every request. */
  readonly key?: string | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
}

interface CallOptions {
  readonly signal?: AbortSignal;
}

/**
 * Client of the HTTP API. Rejects with `ProblemError` for an error of the service, with `UnusableResponse` for a page of
 * something in front of it, with the error of `fetch` without a response, with the reason of `signal` if that aborts.
 */
export interface Client {
  /**
   * Starts a check; resolves once the service has accepted it, before any result.
   * @param options.idempotencyKey 1–255 visible ASCII characters; repeats get the first response, for up to a day
   */
  readonly startCheck: (
    request: CheckRequest | PairRequest,
    options?: CallOptions & { readonly idempotencyKey?: string },
  ) => Promise<CheckStart>;
  /**
   * Reads a check with the result of each selected probe, pending or final.
   * @param options.waitSeconds 0–25: the response comes when the check is completed or after this time; default 0
   */
  readonly results: <Name extends CheckTypeName = CheckTypeName>(
    checkId: string,
    options?: CallOptions & { readonly waitSeconds?: number },
  ) => Promise<CheckOf<Name>>;
  /**
   * Starts a check and waits for its completion, over lost connections and restarts of coordinators too. Rejects with
   * `ProblemError` if the service refuses, with the last failure after a minute of pauses between failed reads, and
   * with the signal's reason. A lost response to the start rejects, because a repetition would start another check.
   */
  readonly check: <Request extends CheckRequest | PairRequest>(
    request: Request,
    options?: CallOptions,
  ) => Promise<CheckOf<Request['type']>>;
  /**
   * Yields the results of probes as they change, then the completed check, and ends; a state that was followed by
   * another one may be left out. If nothing follows `after`, it only ends. Reconnects after a lost connection or a
   * coordinator restart and resumes. Rejects with `ProblemError` if the service refuses, for example because the check
   * does not exist, with the last failure after `giveUpAfterMs`, and with the signal's reason.
   */
  readonly watch: <Name extends CheckTypeName = CheckTypeName>(
    checkId: string,
    options?: WatchOptions,
  ) => AsyncIterable<CheckEvent<Name>>;
  /** Summary of the results so far; preliminary until its `status` is `completed`. */
  readonly summary: (checkId: string, options?: CallOptions) => Promise<Summary>;
  /** Differences between two completed checks of one type. */
  readonly compare: (checkId: string, otherId: string, options?: CallOptions) => Promise<Comparison>;
  /** The probes by id, with their locations, networks and states. */
  readonly probes: (options?: CallOptions) => Promise<Probes>;
  /** Transport, release and state of the agent of each probe. */
  readonly agents: (options?: CallOptions) => Promise<Agents>;
  /** Location and network of the address from which the request came. */
  readonly me: (options?: CallOptions) => Promise<Me>;
  /** All monitors by name, without their runs and changes of the path. */
  readonly monitors: (options?: CallOptions) => Promise<Monitors>;
  /** One monitor with its last runs and changes of the path, newest first. */
  readonly monitor: (name: string, options?: CallOptions) => Promise<Monitor>;
  /** Creates a monitor, or replaces a different one; needs a key with the scope `monitor`. A text is sent as it is. */
  readonly putMonitor: (name: string, request: MonitorRequest | string, options?: CallOptions) => Promise<Monitor>;
  /** Removes a monitor; needs a key with the scope `monitor`. */
  readonly deleteMonitor: (name: string, options?: CallOptions) => Promise<void>;
  /**
   * Yields the monitor, then its runs and its events: changes of its state, its probes and its paths, and where paths
   * part. Reconnects, resumes and rejects as `watch` does; rejects also when the monitor is removed.
   */
  readonly watchMonitor: (name: string, options?: WatchMonitorOptions) => AsyncIterable<MonitorChange>;
}

/** Upper bound of `wait` in the API. */
const LONGEST_WAIT_SECONDS = 25;

/** Creates a client. It sends nothing until one of its functions is called. */
export function createClient(clientOptions: ClientOptions): Client {
  const { call, openEvents } = createSender(clientOptions);

  const startCheck: Client['startCheck'] = (request, { idempotencyKey, ...options } = {}) =>
    call('/check', {
      ...options,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body: JSON.stringify(request),
    });

  const pathOf = (checkId: string): string => `/check/${encodeURIComponent(checkId)}`;
  const pathOfMonitor = (name: string): string => `/monitors/${encodeURIComponent(name)}`;

  const results: Client['results'] = (checkId, { waitSeconds = 0, ...options } = {}) =>
    call(`${pathOf(checkId)}/results?wait=${waitSeconds}`, options);

  return {
    startCheck,
    results,
    check: async (request, options) => {
      const { checkId } = await startCheck(request, options);
      for (;;) {
        const waiting = { ...options, waitSeconds: LONGEST_WAIT_SECONDS };
        const check = await retried(() => results<(typeof request)['type']>(checkId, waiting), options?.signal);
        if (check.status === 'completed') return check;
      }
    },
    watch: (checkId, options = {}) => watchCheck(openEvents(pathOf(checkId)), options),
    summary: (checkId, options = {}) => call(`${pathOf(checkId)}/summary`, options),
    compare: (checkId, otherId, options = {}) =>
      call(`${pathOf(checkId)}/compare/${encodeURIComponent(otherId)}`, options),
    probes: (options = {}) => call('/probes', options),
    agents: (options = {}) => call('/probes/agents', options),
    me: (options = {}) => call('/me', options),
    monitors: (options = {}) => call('/monitors', options),
    monitor: (name, options = {}) => call(pathOfMonitor(name), options),
    putMonitor: (name, request, options = {}) =>
      call(pathOfMonitor(name), {
        ...options,
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: typeof request === 'string' ? request : JSON.stringify(request),
      }),
    deleteMonitor: (name, options = {}) => call(pathOfMonitor(name), { ...options, method: 'DELETE' }),
    watchMonitor: (name, options = {}) => watchMonitor(openEvents(pathOfMonitor(name)), options),
  };
}

interface Sender {
  /** @throws ProblemError if the service returns an error */
  readonly call: <T>(path: string, init: Call) => Promise<T>;
  /** Opens the event stream of a check or a monitor. */
  readonly openEvents: (
    path: string,
  ) => (headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>;
}

type Call = Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> };

/** Sends requests to the service, each with the key if there is one. */
function createSender({ baseUrl, key, fetch: send = fetch }: ClientOptions): Sender {
  const base = baseUrl.replace(/\/+$/, '');
  const credentials: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };

  const call = async <T>(path: string, init: Call): Promise<T> => {
    const headers = { accept: 'application/json', ...credentials, ...init.headers };
    const response = await send(`${base}${path}`, { ...init, headers });
    if (!response.ok) throw await problemError(response);
    return (response.status === 204 ? undefined : await readJson(response)) as T;
  };
  const openEvents: Sender['openEvents'] = (path) => (headers, signal) =>
    send(`${base}${path}/events`, {
      headers: { ...credentials, ...headers },
      signal,
      // Prevents browsers from caching an endless response.
      cache: 'no-store',
    });
  return { call, openEvents };
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    // A connection that is lost meanwhile is no syntax error.
    throw error instanceof SyntaxError ? new UnusableResponse('The response is not JSON.') : error;
  }
}
