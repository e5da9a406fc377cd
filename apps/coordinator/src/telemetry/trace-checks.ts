import type { Tracing } from '@vantage/telemetry';
import type { RequestHandler } from 'express';

import type { Checks } from '../checks/checks.ts';
import type { JobQueues } from '../checks/job-queues.ts';
import type { FinalResult } from '../checks/final-result.ts';
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

export function traceCreation(create: Checks['create'], tracing: Tracing): Checks['create'] {
  return (request, admit) =>
    tracing.around('create check', { attributes: { 'vantage.check.type': request.checkType.type } }, async (span) => {
      const creation = await create(request, admit);
      if (creation.created) {
        span.set({ 'vantage.check.id': creation.checkId, 'vantage.check.probes': creation.probes.length });
      }
      return creation;
    });
}

/** Each job carries the place of its own span, so that what the agent does is below it. */
export function traceQueues(queues: JobQueues, tracing: Tracing): JobQueues {
  return {
    ...queues,
    add: (probe, job, ...rest) => {
      const attributes = { 'vantage.probe': probe, 'vantage.check.id': job.checkId, 'vantage.check.type': job.type };
      return tracing.around(`enqueue ${job.type}`, { kind: 'producer', attributes }, ({ traceparent }) =>
        queues.add(probe, { ...job, traceparent }, ...rest),
      );
    },
  };
}

/** The end of the way: the result is where callers see it. */
export function traceFinal({ type, probe, result, checkId, tookMs, traceparent }: FinalResult, tracing: Tracing): void {
  if (traceparent === undefined) return;
  const span = tracing.start('show result', {
    kind: 'consumer',
    traceparent,
    startedAtMs: Date.now() - tookMs,
    attributes: {
      'vantage.probe': probe,
      'vantage.check.id': checkId,
      'vantage.check.type': type,
      'vantage.result': result,
    },
  });
  span.end();
}
