import { isTraceparent, type Tracing } from '@vantage/telemetry';
import { LRUCache } from 'lru-cache';

import { typeLabel } from './agent-metrics.ts';

/** A job as the queue returns it. */
export interface TakenJob {
  readonly id?: string | undefined;
  readonly name: string;
  readonly data: unknown;
  /**
   * When the job was added, milliseconds since the epoch: by the clock of Redis, or by that of the coordinator if
   * BullMQ added it (a screenshot that is handed over, and all jobs on a Cluster).
   */
  readonly timestamp: number;
}

export interface JobTraces {
  readonly around: (job: TakenJob, run: () => Promise<void>) => Promise<void>;
  /** Trace context of a check's run, for its result entries; undefined without tracing, and for a job without one. */
  readonly traceparentOf: (checkId: string) => string | undefined;
}

/** Limit of remembered checks: results may wait in the agent during a Redis outage. */
const REMEMBERED = 1_000;

/** Creates a span per job with a trace context; jobs without one create none. */
export function traceJobs(tracing: Tracing): JobTraces {
  const traceparents = new LRUCache<string, string>({ max: REMEMBERED });

  return {
    traceparentOf: (checkId) => traceparents.get(checkId),
    around: (job, run) => {
      const traceparent = traceparentOf(job.data);
      if (traceparent === undefined) return run();
      const type = typeLabel(job.name);
      const attributes = { 'vantage.check.id': job.id ?? '', 'vantage.check.type': type };
      return tracing.around(`run ${type}`, { kind: 'consumer', traceparent, attributes }, (span) => {
        if (span.traceparent !== undefined) traceparents.set(job.id ?? '', span.traceparent);
        return run();
      });
    },
  };
}

function traceparentOf(data: unknown): string | undefined {
  const { traceparent } = (data ?? {}) as { readonly traceparent?: unknown };
  return isTraceparent(traceparent) ? traceparent : undefined;
}
