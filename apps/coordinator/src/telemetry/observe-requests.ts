import type { RequestHandler, Response } from 'express';

/** What is known of a request once its answer has ended. Every word in it is from a closed list. */
export interface SeenRequest {
  readonly method: string;
  /** Path of the endpoint with its parameters, or `other`. */
  readonly route: string;
  readonly status: number;
  /** True where the caller asked to wait for something. */
  readonly held: boolean;
  readonly isStream: boolean;
  readonly durationMs: number;
  /** Kind of the problem document that was sent. */
  readonly problem: string | undefined;
  /** Name of the limit that refused. */
  readonly limit: string | undefined;
}

export interface RequestObserver {
  readonly handler: RequestHandler;
  /** Answers under way now. */
  readonly open: () => { readonly requests: number; readonly streams: number };
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS']);

/** Watches answers from outside; what the handlers leave in `response.locals` tells the rest. */
export function observeRequests(onEnd: (seen: SeenRequest) => void): RequestObserver {
  const underWay = new Set<Response>();
  return {
    handler: (request, response, next) => {
      const startedAt = performance.now();
      underWay.add(response);
      response.once('close', () => {
        underWay.delete(response);
        const { problem } = response.locals as { readonly problem?: string };
        onEnd({
          method: methods.has(request.method) ? request.method : 'other',
          route: routeOf(request),
          status: response.statusCode,
          held: request.query['wait'] !== undefined,
          isStream: isStream(response),
          durationMs: performance.now() - startedAt,
          problem,
          limit: response.statusCode === 429 ? refusingLimit(response) : undefined,
        });
      });
      next();
    },
    open: () => {
      const streams = [...underWay].filter(isStream).length;
      return { requests: underWay.size - streams, streams };
    },
  };
}

/** The router leaves the route that it took on the request; a path that nothing took is the caller's, and has no bound. */
export function routeOf(request: { readonly route?: unknown }): string {
  const { path } = (request.route ?? {}) as { readonly path?: unknown };
  return typeof path === 'string' ? path : 'other';
}

/** The policy that refuses stands last (`http/limits`); its name is one of the service's own. */
function refusingLimit(response: Response): string {
  const names = [...String(response.getHeader('ratelimit-policy')).matchAll(/"([a-z-]+)"/g)];
  return names.at(-1)?.[1] ?? 'other';
}

function isStream(response: Response): boolean {
  return String(response.getHeader('content-type')).startsWith('text/event-stream');
}
