import type { CheckStart, Me, Probes, Summary } from '@vantage/contract';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

import { problemError } from './problem-error.ts';
import type { CheckOf, CheckRequest } from './requests.ts';
import { watchCheck, type CheckEvent, type WatchOptions } from './watch.ts';

export interface ClientOptions {
  /** Base address of the service, with its path prefix if it has one. */
  readonly baseUrl: string;
  readonly fetch?: typeof fetch;
}

interface CallOptions {
  readonly signal?: AbortSignal;
}

/** The HTTP API as functions. Each rejects with `ProblemError` when the service refuses. */
export interface Client {
  /** @param options.idempotencyKey 1–255 printable characters: for 24 hours the same key has the same answer */
  readonly startCheck: (
    request: CheckRequest,
    options?: CallOptions & { readonly idempotencyKey?: string },
  ) => Promise<CheckStart>;
  /** @param options.waitSeconds 0–25: the service holds its answer until the check is completed or the time is up */
  readonly results: <Name extends CheckTypeName = CheckTypeName>(
    checkId: string,
    options?: CallOptions & { readonly waitSeconds?: number },
  ) => Promise<CheckOf<Name>>;
  /** Starts a check and waits until it is completed, which the service guarantees. */
  readonly check: <Request extends CheckRequest>(
    request: Request,
    options?: CallOptions,
  ) => Promise<CheckOf<Request['type']>>;
  /**
   * Each probe's result as it comes and changes, then the completed check; then it ends. Connects again when the connection
   * is lost, or the coordinator restarts, and goes on where it was. Rejects with `ProblemError` where there is no such
   * check, and with the signal's reason.
   */
  readonly watch: <Name extends CheckTypeName = CheckTypeName>(
    checkId: string,
    options?: WatchOptions,
  ) => AsyncIterable<CheckEvent<Name>>;
  /** What the results mean together. */
  readonly summary: (checkId: string, options?: CallOptions) => Promise<Summary>;
  readonly probes: (options?: CallOptions) => Promise<Probes>;
  readonly me: (options?: CallOptions) => Promise<Me>;
}

/** Longest `wait` that the service allows. */
const LONGEST_WAIT_SECONDS = 25;

export function createClient({ baseUrl, fetch: send = fetch }: ClientOptions): Client {
  const base = baseUrl.replace(/\/+$/, '');

  const call = async <T>(
    path: string,
    init: Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> },
  ): Promise<T> => {
    const headers = { accept: 'application/json', ...init.headers };
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
        // A browser would keep what it can of an answer that has no end.
        return send(`${base}${pathOf(checkId)}/events`, { headers, signal, cache: 'no-store' });
      }, options),
    summary: (checkId, options = {}) => call(`${pathOf(checkId)}/summary`, options),
    probes: (options = {}) => call('/probes', options),
    me: (options = {}) => call('/me', options),
  };
}
