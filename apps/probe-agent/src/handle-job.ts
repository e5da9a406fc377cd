import {
  createPartials,
  failureResult,
  probeFailure,
  type PartialsOfProbe,
  type ResultOutlet,
} from '@vantage/agent-loop';
import {
  costOf,
  TARGET_UNIT,
  type AnyCheckType,
  type Failure,
  type Job,
  type FinalOutcome,
  type ResultFieldsOf,
} from '@vantage/contract';
import { createContext, type Diagnostic, type Outcome, type ProbeContext } from '@vantage/diagnostics';
import type { CheckTypeName } from '@vantage/diagnostics/contract';
import type { Logger } from 'pino';

import type { Fields } from './fit-result.ts';
import type { Schemas } from './schemas.ts';
import { timeResolution } from './time-resolution.ts';

export interface JobHandlerDependencies {
  readonly loadDiagnostic: (type: CheckTypeName) => Promise<Diagnostic<AnyCheckType>>;
  /** @param cost of the run, charged to the network limit */
  readonly probeContext: (cost: number) => ProbeContext;
  /** Check types that this probe offers. */
  readonly offered: ReadonlySet<string>;
  /** Target check of the job's parameters before the run; `admit` checks the resolved addresses again. */
  readonly checkTarget: TargetCheck;
  /** Redis clock, milliseconds since the epoch, and its round-trip time. */
  readonly clock: {
    readonly now: () => number;
    readonly rttMs: () => number;
    readonly read: (isNewServer: boolean) => Promise<void>;
  };
  readonly schemas: Schemas;
  readonly outlet: Pick<ResultOutlet, 'partial' | 'final'>;
  /** Called with each result and its check type. */
  readonly onResult?: ((type: string, result: FinalOutcome) => void) | undefined;
  readonly log: Logger;
}

/** @returns the reason for which the target is refused, or undefined */
export type TargetCheck = (type: CheckTypeName, params: Job['params']) => string | undefined;

/**
 * Runs one job and sends its result. Never rejects: failures become results.
 *
 * @param id check id from the queue
 * @param data untrusted job data
 * @param interrupted aborted when the agent must stop immediately
 */
export type HandleJob = (id: string, data: unknown, interrupted: AbortSignal) => Promise<void>;

/** The run is aborted this long before its deadline, so that its partial result arrives in time. */
const MARGIN_MS = 250;
/** A diagnostic that ignores its abort for this long is abandoned. */
const CUT_OFF_MS = 125;

type Ending =
  | { readonly outcome: Outcome<AnyCheckType> }
  /** `measured`: last partial result of an unfinished diagnostic. */
  | { readonly failure: Failure; readonly result?: 'timeout'; readonly measured?: Fields };

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
    const budgetMs = job.deadlineAt - now - MARGIN_MS - clock.rttMs();
    settle(job, startedAt, await run(job, { startedAt, budgetMs }, interrupted, { ...dependencies, partials }));
  };
}

type RunDependencies = JobHandlerDependencies & { readonly partials: PartialsOfProbe };

/** Runs the diagnostic until it ends, is cut off, or the agent must stop. */
async function run(
  job: Job & { readonly type: CheckTypeName },
  { startedAt, budgetMs }: { readonly startedAt: string; readonly budgetMs: number },
  interrupted: AbortSignal,
  { loadDiagnostic, probeContext, schemas, outlet, partials, log }: RunDependencies,
): Promise<Ending> {
  const startedMs = performance.now();
  const abort = new AbortController();
  const shown = partials.open<ResultFieldsOf<AnyCheckType>>((fields) => {
    const json = schemas.writePartial(job.type, { startedAt, ...fields });
    if (json === undefined) log.error({ check: job.checkId, type: job.type }, 'invalid partial result');
    else outlet.partial(job.checkId, json, job.deadlineAt);
  });

  let measured: Fields = {};
  const emitPartial = (fields: ResultFieldsOf<AnyCheckType>): void => {
    measured = fields;
    shown.offer(fields);
  };

  const runDiagnostic = async (): Promise<Ending> => {
    try {
      const diagnostic = await loadDiagnostic(job.type);
      const cost = costOf(diagnostic.checkType.traffic(job.params as never), TARGET_UNIT);
      const bounds = { signal: abort.signal, budgetMs: startedMs + budgetMs - performance.now(), emitPartial };
      const { context, fields } = timeResolution(createContext(probeContext(cost), bounds), job);
      const outcome = await diagnostic.run(job.params as never, context);
      return { outcome: { ...outcome, ...fields() } };
    } catch (error) {
      // Errors after the cut-off are logged, except for the abort's own reason.
      if (!abort.signal.aborted || error !== abort.signal.reason) {
        log.error({ check: job.checkId, type: job.type, err: error }, 'diagnostic threw');
      }
      return abort.signal.aborted
        ? { failure: probeFailure('probe_timeout'), result: 'timeout' }
        : { failure: probeFailure('internal_error') };
    }
  };

  const { promise: cutOff, resolve: cut } = Promise.withResolvers<Ending>();
  const stop = (): void => {
    cut({ failure: probeFailure('probe_interrupted') });
    abort.abort(new DOMException('The agent stops.', 'AbortError'));
  };
  let patienceUp: NodeJS.Timeout | undefined;
  const timeUp = setTimeout(
    () => {
      // Started at the abort instead of at the start: after a machine stall both timers would fire at once.
      patienceUp = setTimeout(() => {
        log.error({ check: job.checkId, type: job.type }, 'diagnostic ignored its abort');
        cut({ failure: probeFailure('probe_timeout'), result: 'timeout' });
      }, CUT_OFF_MS);
      abort.abort(new DOMException('The deadline of the check has come.', 'TimeoutError'));
    },
    Math.max(0, budgetMs),
  );
  interrupted.addEventListener('abort', stop);
  if (interrupted.aborted) stop();
  try {
    const ending = await Promise.race([cutOff, runDiagnostic()]);
    return 'failure' in ending ? { ...ending, measured } : ending;
  } finally {
    clearTimeout(timeUp);
    clearTimeout(patienceUp);
    interrupted.removeEventListener('abort', stop);
    shown.close();
  }
}

function fieldsOf(ending: Ending): Fields {
  if ('outcome' in ending) return ending.outcome;
  return {
    rt: null,
    resolvedIp: null,
    ...ending.measured,
    result: ending.result ?? 'error',
    error: ending.failure,
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
