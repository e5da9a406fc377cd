import type { Tracing } from '@vantage/telemetry';
import type { RequestHandler } from 'express';

import { routeOf } from './observe-requests.ts';

/** Creates a root span per request. Trace context from clients is ignored, because anybody may send requests. */
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
