import type { ErrorRequestHandler, RequestHandler, Response } from 'express';

import { CheckEvicted, QueuesFull, RecordsLost, StoreUnavailable, WritesRefused } from '../redis/store-errors.ts';
import { requestContextOf } from './request-context.ts';
import type { Links } from './links.ts';
import { HttpProblem, PROBLEM_MEDIA_TYPE, problemDocument } from './problem.ts';

/**
 * `Retry-After` while the store is unavailable, the queues are full or the coordinator is overloaded: 1 to 3 s at random,
 * so that clients that were refused together do not return together.
 */
export function retryAfter(): { readonly 'Retry-After': string } {
  return { 'Retry-After': String(1 + Math.floor(3 * Math.random())) };
}

/** The last handler: no route matched. */
export const answerNotFound: RequestHandler = (_request, _response, next) => {
  next(new HttpProblem('not-found', 'There is nothing at this path; /openapi.json lists what there is.'));
};

/** Turns any thrown value into a problem document; an unknown one becomes a 500 without details. */
export function answerProblems(links: Links): ErrorRequestHandler {
  return (thrown: unknown, _request, response, _next) => {
    const { log } = requestContextOf(response);
    const problem = toProblem(thrown);
    response.locals['problem'] = problem.type;
    if (problem.status === 500) log.error({ err: thrown }, 'request handler threw');
    else if (thrown instanceof StoreUnavailable) log.warn({ err: thrown }, 'Redis unavailable');
    if (response.headersSent) {
      // The response has begun: only a broken connection can signal the failure.
      response.destroy();
      return;
    }
    sendProblem(response, problem, links);
  };
}

function sendProblem(response: Response, problem: HttpProblem, links: Links): void {
  const { instance, requestId } = requestContextOf(response);
  const body = JSON.stringify(problemDocument(problem, links, instance, requestId));
  response.removeHeader('ETag');
  response
    .status(problem.status)
    .set({ 'Cache-Control': 'no-store', ...problem.headers, 'Content-Type': PROBLEM_MEDIA_TYPE })
    // A buffer, because Express adds a charset to strings and RFC 9457 defines none.
    .send(Buffer.from(body));
}

function faultOf(thrown: StoreUnavailable): string {
  if (thrown instanceof WritesRefused) return 'answers, but refuses writes now';
  return thrown instanceof RecordsLost ? 'has the record of no probe any more' : 'is not available now';
}

function toProblem(thrown: unknown): HttpProblem {
  if (thrown instanceof HttpProblem) return thrown;
  if (thrown instanceof StoreUnavailable) {
    return new HttpProblem('unavailable', `The store of the service ${faultOf(thrown)}. Nothing was accepted.`, {
      headers: retryAfter(),
      cause: thrown,
    });
  }
  if (thrown instanceof CheckEvicted) return new HttpProblem('check-evicted', thrown.message);
  if (thrown instanceof QueuesFull) {
    return new HttpProblem('unavailable', `${thrown.message} Nothing was accepted.`, {
      headers: retryAfter(),
      cause: thrown,
    });
  }
  // Express reports a path that it cannot decode as an error with status 400.
  if (Error.isError(thrown) && 'status' in thrown && thrown.status === 400) {
    return new HttpProblem('invalid-http', 'The path is not valid percent-encoded UTF-8.', { cause: thrown });
  }
  return new HttpProblem('internal-error', 'The request failed by a fault of the service.', { cause: thrown });
}
