import { isTraceparent, type Tracing } from '@vantage/telemetry';

import { typeLabel } from './agent-metrics.ts';

/** A job as the queue gives it. */
export interface TakenJob {
  readonly id?: string | undefined;
  readonly name: string;
  readonly data: unknown;
  /** When it was added, milliseconds since the epoch by the clock of the coordinator. */
  readonly timestamp: number;
}

export interface JobTraces {
  readonly around: (job: TakenJob, run: () => Promise<void>) => Promise<void>;
  /** Where the run of a check stands in its trace, for what is written about it; undefined where it is not traced. */
  readonly placeOf: (checkId: string) => string | undefined;
}

/** A result may wait in the agent for as long as Redis is away; those of so many checks are told apart. */
const REMEMBERED = 1_000;

/** A span per job that is traced; a job of a coordinator that does not trace begins none. */
export function traceJobs(tracing: Tracing): JobTraces {
  const places = new Map<string, string>();

  return {
    placeOf: (checkId) => places.get(checkId),
    around: (job, run) => {
      const traceparent = traceparentOf(job.data);
      if (traceparent === undefined) return run();
      const type = typeLabel(job.name);
      const attributes = { 'vantage.check.id': job.id ?? '', 'vantage.check.type': type };
      return tracing.around(`run ${type}`, { kind: 'consumer', traceparent, attributes }, (span) => {
        const oldest = places.size < REMEMBERED ? undefined : places.keys().next().value;
        if (oldest !== undefined) places.delete(oldest);
        if (span.traceparent !== undefined) places.set(job.id ?? '', span.traceparent);
        return run();
      });
    },
  };
}

function traceparentOf(data: unknown): string | undefined {
  const { traceparent } = (data ?? {}) as { readonly traceparent?: unknown };
  return isTraceparent(traceparent) ? traceparent : undefined;
}
