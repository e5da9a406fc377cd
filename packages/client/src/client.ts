import type { CheckStart, Me, Problem, Probes } from '@vantage/contract';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

import { ProblemError } from './problem-error.ts';
import type { CheckOf, CheckRequest } from './requests.ts';

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
  readonly startCheck: (request: CheckRequest, options?: CallOptions) => Promise<CheckStart>;
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

  const startCheck: Client['startCheck'] = (request, options = {}) =>
    call('/check', {
      ...options,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });

  const results: Client['results'] = (checkId, { waitSeconds = 0, ...options } = {}) =>
    call(`/check/${encodeURIComponent(checkId)}/results?wait=${waitSeconds}`, options);

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
    probes: (options = {}) => call('/probes', options),
    me: (options = {}) => call('/me', options),
  };
}

async function problemError(response: Response): Promise<ProblemError> {
  const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json') ?? false;
  // One that is cut off on its way is none.
  const problem = isProblem ? ((await response.json().catch(() => undefined)) as Problem | undefined) : undefined;
  if (!isProblem) await response.body?.cancel();
  const retryAfter = response.headers.get('retry-after') ?? '';
  // What is not the service may send a date.
  return new ProblemError(response.status, problem, /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined);
}
