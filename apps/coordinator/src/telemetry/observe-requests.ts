import type { RequestHandler, Response } from 'express';

import { arrivalOf } from '../http/limits/pace-requests.ts';
import { createLiveList } from '../live-list.ts';

/** A finished request. All strings are from closed lists, to bound the number of series. */
export interface SeenRequest {
  readonly method: string;
  /** Path template of the endpoint, or `other`. */
  readonly route: string;
  readonly status: number;
  /** True if the client asked to wait. */
  readonly held: boolean;
  readonly isStream: boolean;
  readonly durationMs: number;
  /** Type of the problem document, if one was sent. */
  readonly problem: string | undefined;
  /** Of a request with status 429: the name of the limit that refused it. */
  readonly limit: string | undefined;
}

export interface RequestObserver {
  readonly handler: RequestHandler;
  /** Responses in progress. */
  readonly open: () => { readonly requests: number; readonly streams: number };
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']);

/** Observes responses without changing them; handlers leave details in `response.locals`. */
export function observeRequests(onEnd: (seen: SeenRequest) => void): RequestObserver {
  const underWay = createLiveList<Response>();
  return {
    handler: (request, response, next) => {
      const startedAt = arrivalOf(request);
      const remove = underWay.add(response);
      response.once('close', () => {
        remove();
        const { problem } = response.locals as { readonly problem?: string };
        onEnd({
          method: methods.has(request.method) ? request.method : 'other',
          route: routeOf(request),
          status: response.statusCode,
          held: request.query['wait'] !== undefined,
          isStream: isStream(response),
          durationMs: performance.now() - startedAt,
          problem,
          limit: response.statusCode === 429 ? refusingLimit(response, problem) : undefined,
        });
      });
      next();
    },
    open: () => {
      const responses = [...underWay];
      const streams = responses.filter(isStream).length;
      return { requests: responses.length - streams, streams };
    },
  };
}

/** The matched route; `other` for a path without one, because clients can request any number of paths. */
export function routeOf(request: { readonly route?: unknown }): string {
  const { path } = (request.route ?? {}) as { readonly path?: unknown };
  return typeof path === 'string' ? path : 'other';
}

/**
 * The last limit in the header `RateLimit-Policy`: that of a target, if one refused the request. The bound of open event
 * streams is not in the header.
 */
function refusingLimit(response: Response, problem: string | undefined): string {
  if (problem === 'too-many-streams') return problem;
  const names = [...String(response.getHeader('ratelimit-policy')).matchAll(/"([a-z-]+)"/g)];
  return names.at(-1)?.[1] ?? 'other';
}

function isStream(response: Response): boolean {
  return String(response.getHeader('content-type')).startsWith('text/event-stream');
}
