import type { KeyScope } from '@vantage/contract';
import type { Request, Response, Router } from 'express';

import type { KeyRing } from '../../keys/key-ring.ts';
import { StoreUnavailable } from '../../redis/store-errors.ts';
import { admitCaller } from '../caller.ts';
import { requestContextOf } from '../request-context.ts';
import type { Limit } from '../limits/rate-limit.ts';
import { HttpProblem } from '../problem.ts';
import { refuseUnknownParameters } from '../requests/query-parameters.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** A path of the service and its handler. `HEAD` is answered like `GET` without the body. */
export interface Endpoint {
  /** Express path, such as `/check/:id/results`. */
  readonly path: string;
  readonly method: Method;
  /** Scope that an API key needs; if undefined, keys are ignored. */
  readonly scope?: KeyScope | undefined;
  /**
   * Names of the query parameters; others are refused with 400. Undefined for pages, images, and what Prometheus or
   * load balancers read: links and configurations may add parameters, which are ignored.
   */
  readonly parameters?: readonly string[] | undefined;
  /**
   * Runs before the handler: counts the request, unless the handler does so, and may begin work whose result the handler
   * takes from `response.locals`.
   */
  readonly limit?: Limit | undefined;
  /** Counts a request with a refused key; `limit` by default. */
  readonly countRefused?: Limit | undefined;
  /**
   * Time that the answer may take beyond the budget of the store, such as a wait that the client requested,
   * milliseconds.
   */
  readonly holdMs?: ((request: Request) => number) | undefined;
  /** A rejection is answered with a problem document. */
  readonly answer: (request: Request, response: Response) => Promise<void> | void;
}

const preflightHeaders = {
  'Access-Control-Allow-Headers':
    'Authorization, Cache-Control, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID',
  'Access-Control-Max-Age': '86400',
};

/** Mounts endpoints: their handlers, `OPTIONS` for CORS, and 405 for every other method. */
export function mount(router: Router, endpoints: readonly Endpoint[], keys: KeyRing): void {
  for (const [path, ofPath] of Map.groupBy(endpoints, (endpoint) => endpoint.path))
    mountPath(router, path, ofPath, keys);
}

function mountPath(router: Router, path: string, endpoints: readonly Endpoint[], keys: KeyRing): void {
  const allow = [...endpoints.flatMap(methodsOf), 'OPTIONS'].join(', ');
  router.options(path, (_request, response) => {
    response
      .set({ Allow: allow, 'Access-Control-Allow-Methods': allow, ...preflightHeaders })
      .status(204)
      .end();
  });
  // Other methods count toward the limit of the first endpoint.
  const byMethod = new Map(endpoints.flatMap((endpoint) => methodsOf(endpoint).map((method) => [method, endpoint])));
  // The router handles both exceptions and rejections.
  router.all(path, (request, response) =>
    handle(byMethod.get(request.method) ?? endpoints[0]!, keys, allow, request, response),
  );
}

function methodsOf({ method }: Endpoint): readonly string[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method];
}

async function handle(
  endpoint: Endpoint,
  keys: KeyRing,
  allow: string,
  request: Request,
  response: Response,
): Promise<void> {
  const { scope, limit, countRefused = limit, parameters, holdMs, answer } = endpoint;
  const refusal = scope === undefined ? undefined : admitCaller(request, scope, keys);
  if (refusal !== undefined) {
    // Refused keys are counted, to bound guessing.
    await countRefused?.(request, response);
    throw refusal;
  }
  await limit?.(request, response);
  if (request.method !== endpoint.method && !methodsOf(endpoint).includes(request.method)) {
    throw new HttpProblem('method-not-allowed', `This path answers ${allow}.`, { headers: { Allow: allow } });
  }
  if (parameters !== undefined) refuseUnknownParameters(request, parameters);
  // Evaluated before the handler starts, because it validates the request and may throw.
  const moreMs = holdMs?.(request);
  const answering = answered(answer, request, response);
  try {
    await requestContextOf(response).storeBudget.within(answering, moreMs);
  } catch (error) {
    // A response that has begun cannot become a 503.
    if (!(error instanceof StoreUnavailable) || !response.headersSent) throw error;
    await answering;
  }
}

/** Turns an exception of the handler into a rejection. */
async function answered(answer: Endpoint['answer'], request: Request, response: Response): Promise<void> {
  await answer(request, response);
}
