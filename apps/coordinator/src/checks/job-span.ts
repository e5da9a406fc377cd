import type { Job } from '@vantage/contract';
import type { TraceSpan, Tracing } from '@vantage/telemetry';

/** Starts the span of a job that is added to the queue of a probe. */
export function startJobSpan(tracing: Tracing, probe: string, { checkId, type }: Job): TraceSpan {
  const attributes = { 'vantage.probe': probe, 'vantage.check.id': checkId, 'vantage.check.type': type };
  return tracing.start(`enqueue ${type}`, { kind: 'producer', attributes });
}

/** Adds the span context to the job, so that the agent's spans become its children. */
export function withSpan(job: Job, { traceparent }: TraceSpan): Job {
  return traceparent === undefined ? job : { ...job, traceparent };
}

/** Returns the `name` of an error, `unknown` for other values; not the message, which may contain a target. */
export function errorName(error: unknown): string {
  return Error.isError(error) ? error.name : 'unknown';
}
