import { isIP } from 'node:net';

import { roundMs, type Failure, type ParamsOf } from '@vantage/contract';

import { outcomeOf, timedOut } from '../classify.ts';
import type { DiagnosticContext, Outcome } from '../diagnostic.ts';
import { answerFields } from './answer-fields.ts';
import { ask, type AskedResolver, type AskOptions } from './ask.ts';
import { reverseName } from './codec/name.ts';
import type { dns } from './contract.ts';
import { rcodeFailure } from './rcodes.ts';
import { parseRecordType } from './record-types.ts';
import { newRecordBudget } from './records.ts';
import { chooseResolvers } from './resolvers.ts';
import { rootHints } from './root-hints.ts';
import { traceDns, type TraceStart } from './trace.ts';
import { prepareQuery, type NameServer, type PreparedQuery } from './transport/exchange.ts';

type Dns = typeof dns;
type DnsParams = ParamsOf<Dns>;

/** Kept back from the deadline, so that what is known is reported before it. */
const REPORT_MARGIN_MS = 400;

const SERVFAIL = 2;

/** How long is waited, milliseconds. A list has one wait after each transmission over UDP. */
export interface DnsWaits {
  /** For the only resolver. */
  readonly oneMs: readonly number[];
  /** For each of several resolvers. */
  readonly eachMs: readonly number[];
  /** For each name server of a trace. */
  readonly traceMs: readonly number[];
  /** For the answer that is not validated, once the validated one is SERVFAIL. */
  readonly uncheckedMs: number;
}

/** Three transmissions to one resolver; two to each of several, of which the next may answer sooner. */
const usualWaits: DnsWaits = {
  oneMs: [1_000, 2_000, 3_000],
  eachMs: [800, 1_200],
  traceMs: [1_000, 1_500],
  uncheckedMs: 3_000,
};

/** Where a trace begins: the root servers, on the port of DNS. */
const fromTheRoot: TraceStart = { servers: rootHints, port: 53 };

/** Asks one question and shows every section of its answer, or follows the delegations from the root. */
export async function runDns(
  params: DnsParams,
  context: DiagnosticContext<Dns>,
  traceStart: TraceStart = fromTheRoot,
  waits: DnsWaits = usualWaits,
): Promise<Outcome<Dns>> {
  const prepared = prepare(params);
  if ('failure' in prepared) return ended(prepared.failure, {});
  const { recordType, name } = prepared.query.query;
  const fields = { recordType: recordType.name, queryName: name };
  context.emitPartial(fields);
  const leftMs = Math.max(0, Math.floor(context.remainingMs() - REPORT_MARGIN_MS));
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(leftMs)]);
  if (params.options.trace) {
    const transport = params.options.transport === 'tcp' ? 'tcp' : 'udp';
    const traced = await traceDns(
      prepared.query,
      { ...traceStart, transport, waitsMs: waits.traceMs },
      context,
      signal,
    );
    const budget = newRecordBudget();
    const outcome = concluded(traced, prepared.query, fields, context, budget);
    return { ...outcome, trace: traced.rows(budget) };
  }

  const chosen = await chooseResolvers(params.options, context, signal);
  if ('failure' in chosen) return ended(chosen.failure, fields);
  const options: AskOptions = {
    transport: params.options.transport,
    waitsMs: chosen.servers.length === 1 ? waits.oneMs : waits.eachMs,
    trust: { certificateAuthorities: context.certificateAuthorities },
    userAgent: context.attribution.userAgent,
  };
  const asked = await askInTurn(chosen.servers, prepared.query, options, signal);
  const validationFailed = await failsValidation(asked, prepared.query, options, waits.uncheckedMs, signal);
  return concluded({ ...asked, validationFailed }, prepared.query, fields, context, newRecordBudget());
}

function prepare(params: DnsParams): { readonly query: PreparedQuery } | { readonly failure: Failure } {
  const parsed = parseRecordType(params.recordType);
  if (!parsed.ok) return { failure: unreadable(parsed.reason) };
  const isReverse = isIP(params.host) !== 0 && parsed.recordType.name === 'PTR';
  const name = isReverse ? reverseName(params.host) : params.host.endsWith('.') ? params.host : `${params.host}.`;
  const { dnssecOk, nsid, checkingDisabled, trace } = params.options;
  const recursionDesired = params.options.recursionDesired && !trace;
  try {
    const query = { name, recordType: parsed.recordType, recursionDesired, checkingDisabled, edns: { dnssecOk, nsid } };
    return { query: prepareQuery(query) };
  } catch {
    return { failure: unreadable('The host is not a name that can be asked for.') };
  }
}

/** The coordinator refuses such input; one that comes all the same is none of a probe's to measure. */
function unreadable(message: string): Failure {
  return { code: 'invalid_job', phase: 'dispatch', source: 'probe', message };
}

async function askInTurn(
  servers: readonly NameServer[],
  prepared: PreparedQuery,
  options: AskOptions,
  signal: AbortSignal,
): Promise<AskedResolver> {
  let last: AskedResolver = { answer: null, failure: timedOut('request') };
  for (const server of servers) {
    if (signal.aborted) break;
    last = await ask(server, prepared, options, signal);
    if (last.answer !== null) break;
  }
  return last;
}

/**
 * True where a resolver that answers SERVFAIL has an answer once it is asked not to validate: the data is there, and its
 * signatures are what is wrong (RFC 4035 section 3.2.2).
 */
async function failsValidation(
  { answer }: AskedResolver,
  prepared: PreparedQuery,
  options: AskOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (answer === null || answer.message.rcode !== SERVFAIL || prepared.query.checkingDisabled) return false;
  const unchecked = prepareQuery({ ...prepared.query, checkingDisabled: true });
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const again = await ask(answer.server, unchecked, options, bounded);
  const rcode = again.answer?.message.rcode;
  return rcode === 0 || rcode === 3;
}

function concluded(
  asked: AskedResolver & { readonly validationFailed: boolean },
  prepared: PreparedQuery,
  fields: Pick<Outcome<Dns>, 'recordType' | 'queryName'>,
  context: DiagnosticContext<Dns>,
  budget: ReturnType<typeof newRecordBudget>,
): Outcome<Dns> {
  const { answer, failure } = asked;
  if (answer === null) return ended(failure ?? timedOut('response'), fields);
  const shown = answerFields(answer, asked.validationFailed, prepared, context, budget);
  const error = failure ?? rcodeFailure(answer.message.rcode);
  const message = asked.validationFailed ? 'The answer fails DNSSEC validation (SERVFAIL).' : error?.message;
  return {
    result: error === null ? 'success' : outcomeOf(error),
    rt: roundMs(answer.queryMs),
    resolvedIp: firstAddress(shown.answers),
    error: error === null ? null : { ...error, message: message ?? error.message },
    ...fields,
    ...shown,
  };
}

function ended(failure: Failure, fields: Pick<Outcome<Dns>, 'recordType' | 'queryName'>): Outcome<Dns> {
  return { result: outcomeOf(failure), rt: null, resolvedIp: null, error: failure, ...fields };
}

function firstAddress(answers: readonly { readonly data: string }[]): string | null {
  return answers.find(({ data }) => isIP(data) !== 0)?.data ?? null;
}
