import type { Job } from '@vantage/contract';
import type { TraceSpan, Tracing } from '@vantage/telemetry';

/** The span of a job that is added to the queue of a probe. */
export function startJobSpan(tracing: Tracing, probe: string, { checkId, type }: Job): TraceSpan {
  const attributes = { 'vantage.probe': probe, 'vantage.check.id': checkId, 'vantage.check.type': type };
  return tracing.start(`enqueue ${type}`, { kind: 'producer', attributes });
}

/** The job with the place of its span, so that what the agent does is below it. */
export function withSpan(job: Job, { traceparent }: TraceSpan): Job {
  return traceparent === undefined ? job : { ...job, traceparent };
}

/** Why a span failed: the kind of the error, never its words. */
export function errorName(error: unknown): string {
  return Error.isError(error) ? error.name : 'unknown';
}
