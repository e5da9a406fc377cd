import type { Tracing } from '@vantage/telemetry';
import type { RequestHandler } from 'express';

import { routeOf } from './observe-requests.ts';

/**
 * A span around each request. It begins a trace of its own: anybody may call, so what a caller says of its trace is not
 * continued.
 */
export function traceRequests(tracing: Tracing): RequestHandler {
  return (request, response, next) => {
    const span = tracing.start('request', { kind: 'server', attributes: { 'http.request.method': request.method } });
    response.once('close', () => {
      const route = routeOf(request);
      span.rename(`${request.method} ${route}`);
      span.set({ 'http.route': route, 'http.response.status_code': response.statusCode });
      if (response.statusCode >= 500) span.fail(`status ${response.statusCode}`);
      span.end();
    });
    span.run(next);
  };
}
