import { noTracing, type Tracing } from '@vantage/telemetry';

import { errorName, startJobSpan, withSpan } from '../job-span.ts';
import type { StartCheck } from './enqueue-check.ts';

/** Traces each job of a check with a span that ends when Redis has replied. */
export function traceStart(start: StartCheck, tracing: Tracing): StartCheck {
  if (tracing === noTracing) return start;
  return async (check, jobs) => {
    const spans = jobs.map(({ probe, job }) => startJobSpan(tracing, probe, job));
    const fail = (index: number, error: unknown): void => spans[index]!.fail(errorName(error));
    try {
      const started = await start(
        check,
        jobs.map((one, index) => ({ ...one, job: withSpan(one.job, spans[index]!) })),
      );
      for (const [index, job] of started.jobs.entries()) if (job.status === 'rejected') fail(index, job.reason);
      return started;
    } catch (error) {
      for (const index of spans.keys()) fail(index, error);
      throw error;
    } finally {
      for (const span of spans) span.end();
    }
  };
}
