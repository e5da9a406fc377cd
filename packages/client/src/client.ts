import { problemError } from './problem-error.ts';
import type { Agents, CheckOf, CheckRequest, CheckStart, CheckTypeName, Me, Probes, Summary } from './types.ts';
import { watchCheck, type CheckEvent, type WatchOptions } from './watch.ts';

export interface ClientOptions {
  /** Base URL of the service, including a path prefix if there is one. */
  readonly baseUrl: string;
  /** API key, sent with every request. */
  readonly key?: string | undefined;
  readonly fetch?: typeof fetch;
}

interface CallOptions {
  readonly signal?: AbortSignal;
}

/** Client of the HTTP API. Each function rejects with `ProblemError` if the service returns an error. */
export interface Client {
  /** @param options.idempotencyKey 1–255 printable characters: the same key yields the same response for 24 hours */
  readonly startCheck: (
    request: CheckRequest,
    options?: CallOptions & { readonly idempotencyKey?: string },
  ) => Promise<CheckStart>;
  /**
   * @param options.waitSeconds 0–25: the service delays its response until the check is completed or the time has
   * passed
   */
  readonly results: <Name extends CheckTypeName = CheckTypeName>(
    checkId: string,
    options?: CallOptions & { readonly waitSeconds?: number },
  ) => Promise<CheckOf<Name>>;
  /** Starts a check and waits for its completion, which the service guarantees. */
  readonly check: <Request extends CheckRequest>(
    request: Request,
    options?: CallOptions,
  ) => Promise<CheckOf<Request['type']>>;
  /**
   * Yields each change of a probe's result, then the completed check, and ends. Reconnects after a lost connection or a
   * coordinator restart and resumes. Rejects with `ProblemError` if the check does not exist, and with the signal's
   * reason.
   */
  readonly watch: <Name extends CheckTypeName = CheckTypeName>(
    checkId: string,
    options?: WatchOptions,
  ) => AsyncIterable<CheckEvent<Name>>;
  /** Summary of the results. */
  readonly summary: (checkId: string, options?: CallOptions) => Promise<Summary>;
  readonly probes: (options?: CallOptions) => Promise<Probes>;
  /** Transport, release and state of the agent of each probe. */
  readonly agents: (options?: CallOptions) => Promise<Agents>;
  readonly me: (options?: CallOptions) => Promise<Me>;
}

/** Upper bound of `wait` in the API. */
const LONGEST_WAIT_SECONDS = 25;

export function createClient({ baseUrl, key, fetch: send = fetch }: ClientOptions): Client {
  const base = baseUrl.replace(/\/+$/, '');
  const credentials: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };

  const call = async <T>(
    path: string,
    init: Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> },
  ): Promise<T> => {
    const headers = { accept: 'application/json', ...credentials, ...init.headers };
    const response = await send(`${base}${path}`, { ...init, headers });
    if (!response.ok) throw await problemError(response);
    return (await response.json()) as T;
  };

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

  const results: Client['results'] = (checkId, { waitSeconds = 0, ...options } = {}) =>
    call(`${pathOf(checkId)}/results?wait=${waitSeconds}`, options);

  return {
    startCheck,
    results,
    check: async (request, options) => {
      const { checkId } = await startCheck(request, options);
      for (;;) {
        const check = await results<(typeof request)['type']>(checkId, {
          ...options,
          waitSeconds: LONGEST_WAIT_SECONDS,
        });
        if (check.status === 'completed') return check;
      }
    },
    watch: (checkId, options = {}) =>
      watchCheck((headers, signal) => {
        // Prevents browsers from caching an endless response.
        return send(`${base}${pathOf(checkId)}/events`, {
          ...{ headers: { ...credentials, ...headers }, signal },
          cache: 'no-store',
        });
      }, options),
    summary: (checkId, options = {}) => call(`${pathOf(checkId)}/summary`, options),
    probes: (options = {}) => call('/probes', options),
    agents: (options = {}) => call('/probes/agents', options),
    me: (options = {}) => call('/me', options),
  };
}
