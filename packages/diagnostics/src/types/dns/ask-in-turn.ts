import { uncachedName, type AnswerKind } from '@vantage/contract/dns-message';
import type { Failure } from '@vantage/contract';

import { timedOut } from '../../shared/classify-error.ts';
import { classifyMessage } from './answer-fields.ts';
import { ask, type AskOptions } from './ask.ts';
import type { Concluding } from './outcome.ts';
import { prepareQuery, type NameServer, type PreparedQuery } from './transport/exchange.ts';
import { checkValidation } from './validation.ts';

/**
 * Queries one resolver after another until one gives an answer about the name, as the stub resolver of a host does: at
 * SERVFAIL, REFUSED and the like the next one is asked. A failure of DNSSEC is an answer about the name.
 *
 * @param uncheckedMs time for additional queries: about validation, and about another name if all are silent
 */
export async function askInTurn(
  servers: readonly NameServer[],
  prepared: PreparedQuery,
  options: AskOptions,
  uncheckedMs: number,
  signal: AbortSignal,
): Promise<Concluding> {
  let best: Concluding = { answer: null, failure: timedOut('request'), validation: 'unconfirmed' };
  const silent: NameServer[] = [];
  for (const server of servers) {
    if (signal.aborted) break;
    const asked = await ask(server, prepared, options, signal);
    if (asked.failure?.code === 'timed_out' && asked.failure.phase === 'response') silent.push(server);
    const validation = await checkValidation(asked, prepared, options, uncheckedMs, signal);
    const concluding = { ...asked, validation, asked: { server, transport: options.transport } };
    if (isFinal(concluding, prepared)) return concluding;
    if (rankOf(concluding, prepared) >= rankOf(best, prepared)) best = concluding;
  }
  const isFailing = rankOf(best, prepared) === FAILING;
  return isFailing ? best : ((await answersOthers(silent, prepared, options, uncheckedMs / 2, signal)) ?? best);
}

/** Kinds of answers after which a stub resolver asks no other server. */
const finalKinds: ReadonlySet<AnswerKind> = new Set(['answer', 'alias', 'nodata', 'nxdomain', 'loop', 'filtered']);

/**
 * True if no other server is asked. Without RD (recursion desired) that is every readable answer: the check asks for the data
 * of this server.
 */
function isFinal({ answer, validation }: Concluding, prepared: PreparedQuery): boolean {
  if (answer === null) return false;
  if (validation === 'failed') return true;
  const { kind } = classifyMessage(answer.message, prepared);
  return prepared.query.recursionDesired ? finalKinds.has(kind) : kind !== 'malformed';
}

const [SERVFAIL, FAILING] = [2, 3];

/** Rank of a result by what it reveals about the name: lowest without an answer, highest for SERVFAIL. */
function rankOf({ answer }: Concluding, prepared: PreparedQuery): number {
  if (answer === null) return 0;
  if (answer.message.rcode === SERVFAIL) return FAILING;
  return classifyMessage(answer.message, prepared).kind === 'malformed' ? 1 : 2;
}

/**
 * Asks silent resolvers for a made-up name in the same top-level domain, whose servers are up. One that answers has left the
 * name open because the name's servers are silent.
 */
async function answersOthers(
  servers: readonly NameServer[],
  { query }: PreparedQuery,
  options: AskOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Concluding | undefined> {
  const name = uncachedName(query.name);
  if (name === undefined || !query.recursionDesired || signal.aborted) return undefined;
  const other = prepareQuery({ ...query, name, edns: { dnssecOk: false, nsid: false } });
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const once = { ...options, waitsMs: [timeoutMs] };
  const heard = await Promise.all(servers.map((server) => ask(server, other, once, bounded)));
  const server = servers.find((_, index) => {
    const answer = heard[index]?.answer ?? null;
    // A server that does not resolve is silent about names that are not its own.
    return answer?.message.flags.includes('ra') === true && isFinal({ answer, ...nothing }, other);
  });
  return (
    server && { answer: null, ...nothing, failure: serversSilent(), asked: { server, transport: options.transport } }
  );
}

const nothing = { failure: null, validation: 'unconfirmed' } as const;

function serversSilent(): Failure {
  const message = 'The resolver answered about another name of the top-level domain, but not about this one in time.';
  return { code: 'dns_servers_silent', phase: 'response', source: 'resolver', message };
}
