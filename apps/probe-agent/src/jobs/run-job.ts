import { probeFailure, type RunnerLink, type PartialsOfProbe, type ResultOutlet } from '@vantage/agent-loop';
import {
  costOf,
  endsWithStream,
  paramsOverFamily,
  TARGET_UNIT,
  wantsBothFamilies,
  type AnyCheckType,
  type Job,
  type ResultFieldsOf,
  type Traffic,
} from '@vantage/contract';
import { createContext, type Diagnostic, type ProbeContext } from '@vantage/diagnostics';
import type { CheckTypeName } from '@vantage/diagnostics/contract';
import type { Logger } from 'pino';

import type { Fields } from './fit-result.ts';
import type { Schemas } from './schemas.ts';
import { endingOf, type Ending } from './ending.ts';
import { timeResolution } from './time-resolution.ts';
import { watchProcessStalls } from './process-stalls.ts';

/** Time after the end of its budget in which a diagnostic must end; then it is abandoned. */
const CUT_OFF_MS = 125;

export interface RunDependencies {
  readonly loadDiagnostic: (type: CheckTypeName) => Promise<Diagnostic<AnyCheckType>>;
  /** @param cost of the run, charged to the network limit */
  readonly probeContext: (cost: number) => ProbeContext;
  readonly schemas: Schemas;
  readonly outlet: Pick<ResultOutlet, 'partial'>;
  readonly onAbandoned?: RunnerLink['onAbandoned'] | undefined;
  readonly partials: PartialsOfProbe;
  readonly log: Logger;
}

export interface RunTimes {
  readonly startedAt: string;
  /** Milliseconds until the deadline of the check. */
  readonly leftMs: number;
  /** Milliseconds that the run may take: less than `leftMs`, so that its result arrives before the deadline. */
  readonly budgetMs: number;
}

/** Runs the diagnostic until it ends or is cut off, or `interrupted` aborts. */
export async function runJob(
  job: Job & { readonly type: CheckTypeName },
  { startedAt, leftMs, budgetMs }: RunTimes,
  interrupted: AbortSignal,
  { loadDiagnostic, probeContext, schemas, outlet, onAbandoned, partials, log }: RunDependencies,
): Promise<Ending> {
  const startedMs = performance.now();
  const abort = new AbortController();
  const abandon = endsWithStream(job.params) ? new AbortController() : undefined;
  const stopWatch = abandon && onAbandoned?.(job.checkId, () => abandon.abort());
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

  const stalls = watchProcessStalls();
  const runDiagnostic = async (): Promise<Ending> => {
    try {
      const diagnostic = await loadDiagnostic(job.type);
      // The network limit is charged at each admission; a check over both families has two.
      const cost = costOf(trafficOfAdmission(diagnostic.checkType, job.params), TARGET_UNIT);
      const bounds = {
        signal: abort.signal,
        abandoned: abandon?.signal,
        budgetMs: startedMs + budgetMs - performance.now(),
        emitPartial,
      };
      const { context, fields } = timeResolution(createContext(probeContext(cost), bounds), job);
      stalls.measurementBegins();
      const outcome = await diagnostic.run(job.params as never, context);
      const times = { leftMs, wholeMs: diagnostic.checkType.budgetMs(job.params as never), ...stalls.end() };
      return endingOf({ ...outcome, ...fields() }, times, diagnostic.checkType);
    } catch (error) {
      return endingOfThrown(error, abort.signal, job, log);
    }
  };

  const bounds = boundRun(abort, budgetMs, interrupted, () =>
    log.error({ check: job.checkId, type: job.type }, 'diagnostic ignored its abort'),
  );
  try {
    const ending = await Promise.race([bounds.cutOff, runDiagnostic()]);
    return 'failure' in ending ? { ...ending, measured } : ending;
  } finally {
    bounds.close();
    stalls.end();
    stopWatch?.();
    shown.close();
  }
}

/** Logs every error of a diagnostic except the reason of its abort. */
function endingOfThrown(thrown: unknown, signal: AbortSignal, { checkId, type }: Job, log: Logger): Ending {
  if (!signal.aborted || thrown !== signal.reason) log.error({ check: checkId, type, err: thrown }, 'diagnostic threw');
  return signal.aborted
    ? { failure: probeFailure('probe_timeout'), result: 'timeout' }
    : { failure: probeFailure('internal_error') };
}

function trafficOfAdmission(checkType: AnyCheckType, params: Job['params']): Traffic {
  const { options } = params as { readonly options: object };
  const isBoth = wantsBothFamilies(options);
  return checkType.traffic((isBoth ? paramsOverFamily({ ...params, options }, 4) : params) as never);
}

/**
 * Aborts a run at the end of its budget, or with `interrupted`.
 *
 * @param onIgnored called when the run ignores its abort
 * @returns `cutOff` resolves when the run has to be abandoned
 */
function boundRun(
  abort: AbortController,
  budgetMs: number,
  interrupted: AbortSignal,
  onIgnored: () => void,
): { readonly cutOff: Promise<Ending>; readonly close: () => void } {
  const { promise: cutOff, resolve: cut } = Promise.withResolvers<Ending>();
  const stop = (): void => {
    cut({ failure: probeFailure('probe_interrupted') });
    abort.abort(new DOMException('The agent stops.', 'AbortError'));
  };
  let ignored: NodeJS.Timeout | undefined;
  const timeUp = setTimeout(
    () => {
      // Started at the abort instead of at the start: after a machine stall both timers would fire at once.
      ignored = setTimeout(() => {
        onIgnored();
        cut({ failure: probeFailure('probe_timeout'), result: 'timeout' });
      }, CUT_OFF_MS);
      abort.abort(new DOMException('The deadline of the check has come.', 'TimeoutError'));
    },
    Math.max(0, budgetMs),
  );
  interrupted.addEventListener('abort', stop);
  if (interrupted.aborted) stop();
  return {
    cutOff,
    close: () => {
      clearTimeout(timeUp);
      clearTimeout(ignored);
      interrupted.removeEventListener('abort', stop);
    },
  };
}
