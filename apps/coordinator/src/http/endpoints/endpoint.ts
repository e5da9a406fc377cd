import type { Request, Response, Router } from 'express';

import { StoreUnavailable } from '../../redis/store-errors.ts';
import { exchangeOf } from '../exchange.ts';
import type { Limit } from '../limits/rate-limit.ts';
import { HttpProblem } from '../problem.ts';

export type Method = 'GET' | 'POST';

/** One path of the service and what answers it. `HEAD` is answered as `GET` without the body. */
export interface Endpoint {
  /** Express path, such as `/check/:id/results`. */
  readonly path: string;
  readonly method: Method;
  /** Asked first; limits the endpoint. */
  readonly limit?: Limit | undefined;
  /** Milliseconds that an answer may be held because its caller asked for it; without it none. */
  readonly holdMs?: ((request: Request) => number) | undefined;
  /** A rejection becomes a problem document. */
  readonly answer: (request: Request, response: Response) => Promise<void> | void;
}

const preflightHeaders = {
  'Access-Control-Allow-Headers': 'Cache-Control, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID',
  'Access-Control-Max-Age': '86400',
};

/** Mounts an endpoint: its answer, `OPTIONS` for CORS, and 405 for every other method. */
export function mount(router: Router, { path, method, limit, holdMs, answer }: Endpoint): void {
  const methods = method === 'GET' ? ['GET', 'HEAD'] : [method];
  const allow = [...methods, 'OPTIONS'].join(', ');
  router.options(path, (_request, response) => {
    response
      .set({ Allow: allow, 'Access-Control-Allow-Methods': allow, ...preflightHeaders })
      .status(204)
      .end();
  });
  const handle = async (request: Request, response: Response): Promise<void> => {
    await limit?.(request, response);
    if (!methods.includes(request.method)) {
      throw new HttpProblem('method-not-allowed', `This path answers ${allow}.`, { headers: { Allow: allow } });
    }
    // It reads the request too, and may refuse it: before there is an answer that nobody would wait for.
    const moreMs = holdMs?.(request);
    const answering = answered(answer, request, response);
    try {
      await exchangeOf(response).storeBudget.within(answering, moreMs);
    } catch (error) {
      // A stream that has begun is held by no store.
      if (!(error instanceof StoreUnavailable) || !response.headersSent) throw error;
      await answering;
    }
  };
  // The router takes what is thrown and what is rejected alike.
  router.all(path, (request, response) => handle(request, response));
}

/** What comes too late finds that the caller has been answered. */
async function answered(answer: Endpoint['answer'], request: Request, response: Response): Promise<void> {
  await answer(request, response);
}
