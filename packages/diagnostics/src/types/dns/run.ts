import { reverseName } from '@vantage/contract/dns-message';
import { isIP } from 'node:net';

import { singleFamily, type Failure, type ParamsOf } from '@vantage/contract';
import { linkSignal } from '@vantage/timers';

import { addressBytes } from '@vantage/contract/address';
import type { DiagnosticContext, Outcome } from '../../diagnostic.ts';
import { createTrustStore } from '../../tls/certificate/trust-store.ts';
import { askInTurn } from './ask-in-turn.ts';
import type { QueryOptions } from './query-server.ts';

import type { dns } from './contract.ts';
import { concluded, ended, questionFields } from './outcome.ts';
import { parseRecordType } from './codec/record-types.ts';
import { newRecordBudget } from './records.ts';
import { chooseResolvers } from './resolvers.ts';
import { rootHints } from './trace/root-hints.ts';
import { traceDns, type TraceStart } from './trace/trace.ts';
import { prepareQuery, type PreparedQuery } from './transport/query.ts';

type Dns = typeof dns;
type DnsParams = ParamsOf<Dns>;

/** Margin before the deadline in which the result is reported. */
const REPORT_MARGIN_MS = 400;

/** Waiting times, milliseconds. A list has one per transmission over UDP. */
export interface DnsWaits {
  /** Waits for the only resolver. */
  readonly oneMs: readonly number[];
  /** Waits for each of several resolvers. */
  readonly eachMs: readonly number[];
  /** Wait for each of several resolvers but the last, for a query over TCP, TLS or HTTPS. */
  readonly eachStreamMs: number;
  /** Waits for each name server of a trace. */
  readonly traceMs: readonly number[];
  /**
   * Time for each group of additional queries that verify the resolver's validation. Queries about another name, which
   * show whether the resolver is silent or fails for this name only, get half of it.
   */
  readonly uncheckedMs: number;
}

/**
 * Queries are repeated often, so that packet loss is not taken for silence; less often if another resolver can be
 * queried instead.
 */
const usualWaits: DnsWaits = {
  oneMs: [500, 1_000, 1_000, 1_500, 2_000],
  eachMs: [400, 600, 1_000],
  eachStreamMs: 3_000,
  traceMs: [1_000, 1_500],
  uncheckedMs: 3_000,
};

/** A trace starts at the root servers, on the default port. */
const fromTheRoot: TraceStart = { servers: rootHints, port: 53 };

/** Sends a resolver one query and returns every section of the answer, or follows the delegations from the root. */
export async function runDns(
  params: DnsParams,
  context: DiagnosticContext<Dns>,
  traceStart: TraceStart = fromTheRoot,
  waits: DnsWaits = usualWaits,
): Promise<Outcome<Dns>> {
  const prepared = prepare(params);
  if ('failure' in prepared) return ended(prepared.failure, {});
  const family = singleFamily(params.options);
  const asked = family === undefined ? {} : { family };
  context.emitPartial({ ...questionFields(prepared.query), ...asked });
  const leftMs = Math.max(0, Math.floor(context.remainingMs() - REPORT_MARGIN_MS));
  const { signal, release } = linkSignal(context.signal, leftMs);
  try {
    const outcome = params.options.trace
      ? await followDelegations(params, prepared.query, traceStart, waits, context, signal)
      : await queryResolver(params, prepared.query, waits, context, signal);
    return { ...outcome, ...asked };
  } finally {
    release();
  }
}

async function followDelegations(
  { options }: DnsParams,
  query: PreparedQuery,
  start: TraceStart,
  { traceMs: waitsMs }: DnsWaits,
  context: DiagnosticContext<Dns>,
  signal: AbortSignal,
): Promise<Outcome<Dns>> {
  const transport = options.transport === 'tcp' ? 'tcp' : 'udp';
  const path = { ...start, transport, waitsMs, family: singleFamily(options) } as const;
  const traced = await traceDns(query, path, context, signal);
  const budget = newRecordBudget();
  return { ...concluded(traced, query, context, budget), trace: traced.rows(budget) };
}

async function queryResolver(
  params: DnsParams,
  query: PreparedQuery,
  waits: DnsWaits,
  context: DiagnosticContext<Dns>,
  signal: AbortSignal,
): Promise<Outcome<Dns>> {
  const chosen = await chooseResolvers(params.options, context, signal);
  if ('failure' in chosen) return ended(chosen.failure, questionFields(query));
  const options: QueryOptions = {
    transport: params.options.transport,
    waitsMs: chosen.servers.length === 1 ? waits.oneMs : waits.eachMs,
    streamMs: waits.eachStreamMs,
    trust: context.trust ?? createTrustStore(context.certificateAuthorities ?? []),
    userAgent: context.attribution.userAgent,
    icmp: context,
  };
  const asked = await askInTurn(chosen.servers, query, options, waits.uncheckedMs, signal);
  return concluded(asked, query, context, newRecordBudget());
}

function prepare(params: DnsParams): { readonly query: PreparedQuery } | { readonly failure: Failure } {
  const parsed = parseRecordType(params.recordType);
  if (!parsed.ok) return { failure: unreadable(parsed.reason) };
  const isReverse = isIP(params.host) !== 0 && parsed.recordType.name === 'PTR';
  const name = isReverse
    ? reverseName(addressBytes(params.host))
    : params.host.endsWith('.')
      ? params.host
      : `${params.host}.`;
  const { dnssecOk, nsid, checkingDisabled, trace } = params.options;
  const recursionDesired = params.options.recursionDesired && !trace;
  try {
    const query = { name, recordType: parsed.recordType, recursionDesired, checkingDisabled, edns: { dnssecOk, nsid } };
    return { query: prepareQuery(query) };
  } catch {
    return { failure: unreadable('The host is not a name that can be asked for.') };
  }
}

/** The failure of a job whose input the coordinator should have refused. */
function unreadable(message: string): Failure {
  return { code: 'invalid_job', phase: 'dispatch', source: 'probe', message };
}
