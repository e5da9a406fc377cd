import type { Job } from '@vantage/contract';
import type { SpanOptions, Tracing } from '@vantage/telemetry';
import type { RequestHandler } from 'express';

import type { Checks } from '../checks/checks.ts';
import type { JobQueues } from '../checks/store/job-queues.ts';
import type { StartCheck } from '../checks/create/enqueue-check.ts';
import type { FinalResult } from '../checks/ingest/committed-result.ts';
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
  return (request, admit, client) =>
    tracing.around('create check', { attributes: { 'vantage.check.type': request.checkType.type } }, async (span) => {
      const creation = await create(request, admit, client);
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
    add: (probe, job, ...rest) =>
      tracing.around(...spanOf(probe, job), ({ traceparent }) => queues.add(probe, { ...job, traceparent }, ...rest)),
  };
}

/** As `traceQueues`, for the jobs that go out with their check. */
export function traceStart(start: StartCheck, tracing: Tracing): StartCheck {
  return async (check, jobs) => {
    const spans = jobs.map(({ probe, job }) => tracing.start(...spanOf(probe, job)));
    const fail = (index: number, error: unknown): void =>
      spans[index]!.fail(Error.isError(error) ? error.name : 'unknown');
    try {
      const placed = jobs.map((job, index) => ({
        ...job,
        job: { ...job.job, traceparent: spans[index]!.traceparent },
      }));
      const outcomes = await start(check, placed);
      for (const [index, outcome] of outcomes.entries()) if (outcome.status === 'rejected') fail(index, outcome.reason);
      return outcomes;
    } catch (error) {
      for (const index of spans.keys()) fail(index, error);
      throw error;
    } finally {
      for (const span of spans) span.end();
    }
  };
}

function spanOf(probe: string, { checkId, type }: Job): readonly [name: string, options: SpanOptions] {
  const attributes = { 'vantage.probe': probe, 'vantage.check.id': checkId, 'vantage.check.type': type };
  return [`enqueue ${type}`, { kind: 'producer', attributes }];
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
