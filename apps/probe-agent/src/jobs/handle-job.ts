import { createPartials, failureResult, isWithdrawn, probeFailure, type ResultOutlet } from '@vantage/agent-loop';
import type { Failure, FinalOutcome, Job } from '@vantage/contract';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

import type { Fields } from './fit-result.ts';
import type { TargetCheck } from '../runtime/runtime.ts';
import type { Ending } from './ending.ts';
import { runJob, type RunDependencies } from './run-job.ts';

export interface JobHandlerDependencies extends Omit<RunDependencies, 'partials'> {
  /** Check types that this probe offers. */
  readonly offered: ReadonlySet<string>;
  /** Target check of the job's parameters before the run. */
  readonly checkTarget: TargetCheck;
  /** Redis clock, milliseconds since the epoch, and its round-trip time. */
  readonly clock: {
    readonly now: () => number;
    readonly rttMs: () => number;
    readonly read: (isNewServer: boolean) => Promise<unknown>;
  };
  readonly outlet: Pick<ResultOutlet, 'partial' | 'final'>;
  /** Called with each result and its check type. */
  readonly onResult?: ((type: string, result: FinalOutcome) => void) | undefined;
}

/**
 * Runs one job and sends its result, unless the job has expired or is withdrawn. Never rejects: failures become
 * results.
 *
 * @param id job id from the queue
 * @param data untrusted job data
 * @param interrupted aborted when the agent must stop immediately, or the job is withdrawn
 */
export type HandleJob = (id: string, data: unknown, interrupted: AbortSignal) => Promise<void>;

/** The run is aborted about this long before its deadline, so that its partial result arrives in time. */
const MARGIN_MS = 250;

export function createJobHandler(dependencies: JobHandlerDependencies): HandleJob {
  const { clock, schemas, outlet, log } = dependencies;
  const partials = createPartials();

  const timestamp = (): string => new Date(clock.now()).toISOString();

  const settle = (job: Job & { readonly type: CheckTypeName }, startedAt: string | null, ending: Ending): void => {
    const times = { startedAt, finishedAt: timestamp() };
    const whole = schemas.writeResult(job.type, { ...fieldsOf(ending), ...times });
    const isPartialAtFault = whole.fault !== undefined && 'failure' in ending && ending.measured !== undefined;
    const written = isPartialAtFault
      ? schemas.writeResult(job.type, { ...fieldsOf({ ...ending, measured: {} }), ...times })
      : whole;
    if (written.fault !== undefined) {
      log.error({ check: job.checkId, type: job.type, fault: written.fault }, 'diagnostic returned an invalid result');
    } else if (written.left.length > 0) {
      log.warn({ check: job.checkId, type: job.type, left: written.left }, 'result too large: fields omitted');
    }
    const json = written.json ?? failureResult(probeFailure('invalid_result'), startedAt, timestamp());
    void outlet.final(job.checkId, json, job.deadlineAt);
    dependencies.onResult?.(
      job.type,
      written.json === undefined ? 'error' : (fieldsOf(ending)['result'] as FinalOutcome),
    );
  };

  return async (id, data, interrupted) => {
    const { job, fault } = schemas.readJob(id, data);
    if (job === undefined) {
      log.error({ check: id, fault }, 'invalid job');
      const json = failureResult(probeFailure('invalid_job'), null, timestamp());
      void outlet.final(id, json, deadlineOf(data) ?? clock.now());
      dependencies.onResult?.('unknown', 'error');
      return;
    }
    // The Redis clock may have stepped: confirm with a new reading before dropping the job.
    if (clock.now() >= job.deadlineAt) await clock.read(true).catch(() => undefined);
    const now = clock.now();
    if (now >= job.deadlineAt) {
      log.warn({ check: id, type: job.type, lateMs: now - job.deadlineAt }, 'job expired');
      return;
    }
    if (!dependencies.offered.has(job.type)) return settle(job, null, { failure: probeFailure('capability_missing') });
    const refusal = dependencies.checkTarget(job.type, job.params);
    if (refusal !== undefined) return settle(job, null, { failure: refusedByPolicy(refusal) });
    const startedAt = timestamp();
    const leftMs = job.deadlineAt - now;
    const budgetMs = leftMs - MARGIN_MS - clock.rttMs();
    const times = { startedAt, leftMs, budgetMs };
    const ending = await runJob(job, times, interrupted, { ...dependencies, partials });
    if (!isWithdrawn(interrupted)) settle(job, startedAt, ending);
  };
}

function fieldsOf(ending: Ending): Fields {
  if ('outcome' in ending) return ending.outcome;
  return {
    rt: null,
    resolvedIp: null,
    ...ending.measured,
    result: ending.result ?? 'error',
    error: ending.failure,
    ...(ending.stalled === undefined ? {} : { stalled: ending.stalled }),
  };
}

/** Failure for a target that is refused before any packet is sent. */
export function refusedByPolicy(message: string): Failure {
  return { code: 'target_refused_by_policy', phase: 'dispatch', source: 'probe', message };
}

function deadlineOf(data: unknown): number | undefined {
  if (typeof data !== 'object' || data === null || !('deadlineAt' in data)) return undefined;
  return typeof data.deadlineAt === 'number' ? data.deadlineAt : undefined;
}
