import { isFromNameServer, uncachedName, type AnswerKind } from '@vantage/contract/dns-message';
import type { Failure } from '@vantage/contract';

import { timedOut } from '../../shared/classify-error.ts';
import { classifyMessage } from './answer-fields.ts';
import { askFresh } from './ask-fresh.ts';
import { queryServer, type ResolverOutcome, type QueryOptions } from './query-server.ts';
import type { Concluding } from './outcome.ts';
import { prepareQuery, type Answer, type NameServer, type PreparedQuery } from './transport/query.ts';
import { checkValidation } from './validation.ts';

/**
 * Queries one resolver after another until an answer is final (`isFinal`). If none is, a query about another name shows
 * whether a resolver fails, or is silent, for this name only.
 *
 * @param uncheckedMs time for each group of additional queries about validation; half of it for those about another
 *   name
 */
export async function askInTurn(
  servers: readonly NameServer[],
  prepared: PreparedQuery,
  options: QueryOptions,
  uncheckedMs: number,
  signal: AbortSignal,
): Promise<Concluding> {
  let best: Concluding = { answer: null, failure: timedOut('request'), validation: 'unconfirmed' };
  const silent: NameServer[] = [];
  for (const server of servers) {
    if (signal.aborted) break;
    const isLast = server === servers.at(-1);
    const asked = await askFresh(server, prepared, isLast ? { ...options, streamMs: undefined } : options, signal);
    if (isSilent(asked)) silent.push(server);
    const validation = await checkValidation(asked, prepared, options, uncheckedMs, signal);
    const failure = validation === 'broken' ? resolverFailing(BROKEN_VALIDATION) : asked.failure;
    const concluding = { ...asked, failure, validation, asked: { server, transport: options.transport } };
    if (isFinal(concluding, prepared)) return concluding;
    if (rankOf(concluding, prepared) >= rankOf(best, prepared)) best = concluding;
  }
  const askOthers = async (servers: readonly NameServer[]): Promise<readonly AskedOther[]> =>
    askAboutAnother(servers, prepared, options, uncheckedMs / 2, signal);
  if (rankOf(best, prepared) === FAILING) return concludeFailing(best, prepared, askOthers);
  const reaching = (await askOthers(silent)).find(({ evidence }) => evidence === 'reaches');
  if (reaching === undefined) return best;
  const asked = { server: reaching.server, transport: options.transport };
  // The silence may have been packet loss: the name is queried again.
  const again = await queryServer(reaching.server, prepared, { ...options, waitsMs: AGAIN_MS }, signal);
  if (again.answer === null) {
    return { answer: null, ...nothing, failure: isSilent(again) ? serversSilent() : again.failure, asked };
  }
  return { ...again, validation: await checkValidation(again, prepared, options, uncheckedMs, signal), asked };
}

/**
 * True if no datagram arrived. A resolver that sends a mismatched datagram is not waiting for the name servers of the
 * name.
 */
function isSilent({ failure, mismatched = 0 }: ResolverOutcome): boolean {
  return failure?.code === 'timed_out' && failure.phase === 'response' && mismatched === 0;
}

/** Waits in milliseconds after each of four more transmissions of the query about the name. */
const AGAIN_MS = [300, 300, 300, 300];

type AskOthers = (servers: readonly NameServer[]) => Promise<readonly AskedOther[]>;

/**
 * SERVFAIL says nothing about the name if the resolver fails for a made-up name as well, or can answer that only from
 * its cache.
 */
async function concludeFailing(best: Concluding, { query }: PreparedQuery, askOthers: AskOthers): Promise<Concluding> {
  if (best.validation === 'failed' || best.asked === undefined || !query.recursionDesired) return best;
  const [other] = await askOthers([best.asked.server]);
  return other?.evidence === 'fails' ? { ...best, failure: resolverFailing(FAILING_FOR_ALL) } : best;
}

/** Kinds of answers to a query with RD after which no other resolver is asked. */
const finalKinds: ReadonlySet<AnswerKind> = new Set(['answer', 'alias', 'nodata', 'nxdomain', 'loop', 'filtered']);

/**
 * True if no other server is asked. Without RD (recursion desired) that is every readable answer: the check asks for
 * the data of this server.
 */
function isFinal({ answer, validation }: Concluding, prepared: PreparedQuery): boolean {
  if (answer === null) return false;
  if (validation === 'failed') return true;
  const { kind } = classifyMessage(answer.message, prepared);
  return prepared.query.recursionDesired ? finalKinds.has(kind) : kind !== 'malformed';
}

const [SERVFAIL, FAILING] = [2, 3];

/**
 * Rank of a result by what it reveals about the name: lowest without an answer, highest for SERVFAIL that may be about
 * it.
 */
function rankOf({ answer, validation }: Concluding, prepared: PreparedQuery): number {
  if (answer === null) return 0;
  if (answer.message.rcode === SERVFAIL) return validation === 'broken' ? 2 : FAILING;
  return classifyMessage(answer.message, prepared).kind === 'malformed' ? 1 : 2;
}

/**
 * What the answer about another name shows about a resolver: that it reaches name servers, that it may not reach any,
 * or that it does not resolve for the probe, as with REFUSED.
 */
interface AskedOther {
  readonly server: NameServer;
  readonly evidence: 'reaches' | 'fails' | 'refuses';
}

/**
 * Asks resolvers for a made-up name in the same top-level domain, whose servers rarely fail. The query requests
 * signatures, which reveal an answer that a resolver derives from its cache (RFC 8198).
 *
 * @returns nothing without RD, after an abort, and if there is no such name
 */
async function askAboutAnother(
  servers: readonly NameServer[],
  { query }: PreparedQuery,
  options: QueryOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<readonly AskedOther[]> {
  const name = uncachedName(query.name);
  if (name === undefined || !query.recursionDesired || signal.aborted) return [];
  const other = prepareQuery({ ...query, name, edns: { dnssecOk: true, nsid: false } });
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const twice = { ...options, waitsMs: [timeoutMs / 2, timeoutMs / 2] };
  return Promise.all(
    servers.map(async (server) => {
      const { answer } = await queryServer(server, other, twice, bounded);
      return { server, evidence: evidenceOf(answer, other) };
    }),
  );
}

function evidenceOf(answer: Answer | null, other: PreparedQuery): AskedOther['evidence'] {
  if (answer === null || answer.message.rcode === SERVFAIL) return 'fails';
  // A server that does not resolve answers only about its own names.
  if (!isFinal({ answer, ...nothing }, other) || !answer.message.flags.includes('ra')) return 'refuses';
  return isFromNameServer(answer.message) ? 'reaches' : 'fails';
}

const nothing = { failure: null, validation: 'unconfirmed' } as const;

function serversSilent(): Failure {
  const message = 'The resolver answered about another name of the top-level domain, but not about this one in time.';
  return { code: 'dns_servers_silent', phase: 'response', source: 'resolver', message };
}

const FAILING_FOR_ALL = 'The resolver could not answer (SERVFAIL), and may fail for every name.';
const BROKEN_VALIDATION =
  'The resolver fails DNSSEC validation (SERVFAIL), for the root too: its clock or its trust anchor may be wrong.';

function resolverFailing(message: string): Failure {
  return { code: 'dns_resolver_failing', phase: 'response', source: 'resolver', message };
}
