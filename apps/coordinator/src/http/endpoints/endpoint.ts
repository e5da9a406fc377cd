import type { Request, RequestHandler, Response, Router } from 'express';

import { HttpProblem } from '../problem.ts';

export type Method = 'GET' | 'POST';

/** One path of the service and what answers it. `HEAD` is answered as `GET` without the body. */
export interface Endpoint {
  /** Express path, such as `/check/:id/results`. */
  readonly path: string;
  readonly method: Method;
  /** Asked first; limits the endpoint. */
  readonly limit?: RequestHandler | undefined;
  /** A rejection becomes a problem document. */
  readonly answer: (request: Request, response: Response) => Promise<void> | void;
}

const preflightHeaders = {
  'Access-Control-Allow-Headers': 'Content-Type, If-None-Match',
  'Access-Control-Max-Age': '86400',
};

/** Mounts an endpoint: its answer, `OPTIONS` for CORS, and 405 for every other method. */
export function mount(router: Router, { path, method, limit, answer }: Endpoint): void {
  const methods = method === 'GET' ? ['GET', 'HEAD'] : [method];
  const allow = [...methods, 'OPTIONS'].join(', ');
  router.options(path, (_request, response) => {
    response
      .set({ Allow: allow, 'Access-Control-Allow-Methods': allow, ...preflightHeaders })
      .status(204)
      .end();
  });
  if (limit !== undefined) router.all(path, limit);
  router.all(path, (request, response) => {
    if (!methods.includes(request.method)) {
      throw new HttpProblem('method-not-allowed', `This path answers ${allow}.`, { headers: { Allow: allow } });
    }
    // The router takes what is thrown and what is rejected alike.
    return answer(request, response);
  });
}
