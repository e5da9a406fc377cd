import {
  checkHelp,
  describeResult,
  exitStatus,
  helpRow,
  helpRows,
  jsonText,
  resultDetails,
  statusOfResults,
} from '@vantage/command-line';
import { escapeText, type AnyCheckType, type CommonResult, type PublicFieldsOf } from '@vantage/contract';
import { checkTypes, type CheckTypeName } from '@vantage/diagnostics/contract';
import type { Logger } from 'pino';

import { ownVersion } from '../agent.ts';
import type { MeasuringConfig } from '../config/config.ts';
import { createJobHandler } from '../jobs/handle-job.ts';
import { policyOf } from '../runtime/open-runtime.ts';
import type { ProbeRuntime } from '../runtime/runtime.ts';
import { createSchemas } from '../jobs/schemas.ts';
import { createProbeContext } from '../runtime/probe-context.ts';
import { readRequest, runFlags, type RunRequest } from './read-request.ts';
import { traceProbeContext, type TraceLine } from './trace.ts';

export interface RunOnceOptions {
  readonly config: MeasuringConfig;
  readonly openRuntime: (config: MeasuringConfig, log: Logger) => Promise<ProbeRuntime>;
  readonly log: Logger;
  readonly output: { readonly write: (text: string) => unknown };
  readonly errors: { readonly write: (text: string) => unknown };
  /** Aborted by Ctrl-C: the run ends with a partial result. */
  readonly signal: AbortSignal;
}

/** Placeholder in the format of a check id: there is no check. */
const RUN_ID = 'run'.padEnd(22, '-');
const LONGEST = 2_000;

/**
 * Runs one check on this machine with the agent's policy, settings and job handler, without Redis and without a
 * service.
 *
 * @param args arguments after `run`, such as `tcp example.com --port 443`
 * @returns the exit status
 */
export async function runOnce(args: readonly string[], options: RunOnceOptions): Promise<number> {
  const { config, output, errors, log } = options;
  const read = readRequest(args, policyOf(config));
  if (read.kind === 'help') {
    output.write(helpText(read.of));
    return exitStatus.success;
  }
  if (read.kind === 'invalid') {
    errors.write(`${read.faults.map((fault) => escapeText(fault, LONGEST)).join('\n')}\n`);
    errors.write(
      `Run "vantage-agent run ${checkTypes[args[0] as CheckTypeName] === undefined ? '' : `${args[0]} `}--help" for usage.\n`,
    );
    return exitStatus.invalid;
  }
  const runtime = await options.openRuntime(config, log);
  try {
    const result = await measure(read.request, runtime, options);
    output.write(read.request.isJson ? `${jsonText(result)}\n` : resultLines(read.request.type, result));
    return options.signal.aborted ? exitStatus.interrupted : statusOfResults(read.request.type, [result]);
  } finally {
    await runtime.close();
  }
}

type Result = CommonResult & PublicFieldsOf<AnyCheckType>;

/** Uses the job handler of the agent: equal limits, cut-off and result validation. */
async function measure(
  { type, params, isTraced }: RunRequest,
  runtime: ProbeRuntime,
  { config, errors, log, signal }: RunOnceOptions,
): Promise<Result> {
  const startedMs = performance.now();
  const trace: TraceLine = (line) => {
    if (isTraced)
      errors.write(`${(performance.now() - startedMs).toFixed(1).padStart(9)} ms  ${escapeText(line, LONGEST)}\n`);
  };
  const { promise, resolve } = Promise.withResolvers<string>();
  const probeContext = createProbeContext(config, runtime, ownVersion());
  const handle = createJobHandler({
    loadDiagnostic: runtime.loadDiagnostic,
    checkTarget: runtime.checkTarget,
    probeContext: (cost) => traceProbeContext(probeContext(cost), trace),
    offered: new Set([type]),
    clock: { now: Date.now, rttMs: () => 0, read: async () => undefined },
    schemas: createSchemas(),
    outlet: {
      partial: (_id, json) => trace(`so far ${json}`),
      final: async (_id, json) => resolve(json),
    },
    log,
  });
  const checkType: AnyCheckType = checkTypes[type];
  const deadlineAt = Date.now() + checkType.budgetMs(params);
  await handle(RUN_ID, { v: 1, checkId: RUN_ID, type, params, deadlineAt }, signal);
  return JSON.parse(await promise) as Result;
}

function resultLines(type: CheckTypeName, result: Result): string {
  const lines = [
    `${result.result}  ${describeResult(type, result)}`,
    ...resultDetails(type, result).map((line) => `  ${line}`),
  ];
  return `${lines.map((line) => escapeText(line, LONGEST).trimEnd()).join('\n')}\n`;
}

function helpText(of: CheckTypeName | undefined): string {
  if (of !== undefined) return checkHelp('vantage-agent run', checkTypes[of] as AnyCheckType, runFlags);
  const types = Object.values<AnyCheckType>(checkTypes).map(({ type, summary }) => helpRow(type, summary));
  return `Runs one check on this machine as the agent would, without Redis. The environment has the agent's settings,
such as TARGET_ALLOW=127.0.0.0/8; those of Redis and of the probe are not needed.

  vantage-agent run TYPE HOST [flags]     such as: vantage-agent run tcp example.com --port 443 --verbose

${types.join('')}
${helpRows(runFlags)}
Exit status: 0 success; 1 failure or timeout; 2 the words or settings are not valid, or the output cannot be
written; 4 this machine could not measure; 130 interrupted; 141 nothing reads the output any more.
`;
}
