import type { Failure, Family } from '@vantage/contract';
import { reverseName } from '@vantage/contract/dns-message';
import { linkSignal, readFirstTimer } from '@vantage/timers';

import { ADDRESS_BITS, parseAddress, type Address } from '../addresses/address.ts';
import { askRepeatedly, type Question } from './ask-repeatedly.ts';
import { createControlQuestion } from './control-question.ts';
import { inRounds, resolverServers, type Attempt, type ResolverServers } from './resolver-servers.ts';
import { type Heard, isReached, isServfail, mostTelling, ofFailingResolver } from './most-telling.ts';
import { questionTypes, readAnswer, serversSilent, silence, type StubAnswer } from './stub-answer.ts';
import type { ResolverAddress } from './stub-transport.ts';

export type AddressAnswer =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly failure: Failure };

/**
 * Queries to the probe's resolvers. Each rejects only when `signal` aborts, with its reason; if by then the name's
 * servers are known to be silent, it resolves with that failure.
 */
export interface NameResolver {
  /** A or AAAA records, in the order of the answer, each in canonical text. */
  readonly addresses: (name: string, family: Family, signal: AbortSignal) => Promise<AddressAnswer>;
  /** PTR records in presentation format; empty on any failure. */
  readonly reverse: (address: string, signal: AbortSignal) => Promise<readonly string[]>;
}

export interface NameResolverOptions {
  /** `address`, `address:port` or `[address]:port`, in order; empty for those of the system. */
  readonly servers: readonly string[];
  /** Wait for each server in the first round; each further round waits twice as long as the one before. */
  readonly timeoutMs?: number;
  /** Rounds over all servers. */
  readonly tries?: number;
}

/**
 * A stub resolver (RFC 1034 section 5.3.1) without hosts file, search list or cache.
 *
 * @throws for a malformed server address
 */
export function createNameResolver({ servers, timeoutMs = 1_500, tries = 2 }: NameResolverOptions): NameResolver {
  const known = resolverServers(servers);
  const ask = (name: string, type: keyof typeof questionTypes, signal: AbortSignal): Promise<StubAnswer> => {
    const query = { ...question, name: `${name}.`, recordType: questionTypes[type] };
    return askInTurn(known, inRounds(known.inOrder(), timeoutMs, tries), query, timeoutMs, signal);
  };
  return {
    addresses: async (name, family, signal) => {
      const answer = await ask(name, family === 4 ? 'A' : 'AAAA', signal);
      return answer.ok ? { ok: true, addresses: answer.data } : { ok: false, failure: answer.failure };
    },
    reverse: async (text, signal) => {
      const address = parseAddress(text);
      if (address === undefined) return [];
      const answer = await ask(reverseName(octets(address)).slice(0, -1), 'PTR', signal);
      return answer.ok ? answer.data.map((name) => (name === '.' ? name : name.slice(0, -1))) : [];
    },
  };
}

const question = { recursionDesired: true, checkingDisabled: false, edns: { dnssecOk: false, nsid: false } } as const;

/**
 * Queries one server after another until one succeeds or gives a final answer. An earlier one may still answer
 * meanwhile.
 */
async function askInTurn(
  servers: ResolverServers,
  attempts: readonly Attempt[],
  query: Question,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<StubAnswer> {
  const { signal: either, abort } = linkSignal(signal);
  const heard: Heard[] = [];
  const cut: StubAnswer[] = [];
  let mismatched = 0;
  const overheard = {
    cut: (answer: Uint8Array): unknown => cut.push(readAnswer(answer, query)),
    mismatch: (): unknown => mismatched++,
  };
  const open: Promise<Heard>[] = [];
  const unanswered = new Set<ResolverAddress>();
  // An address without a name is no failure, so a silent server needs no explanation.
  const isOptional = query.recordType === questionTypes.PTR;
  const control = isOptional ? undefined : createControlQuestion(query, timeoutMs, either);
  try {
    for (const { server, waitMs } of attempts) {
      if (signal.aborted) break;
      control?.watch(server);
      const asked = askRepeatedly(server, query, isOptional ? 0 : waitMs, either, overheard);
      const told = asked.then((answer): Heard => ({ server, answer }));
      open.push(told);
      void told.then((known) => heard.push(known));
      const known = await firstAnswer(open, told, waitMs, signal);
      if (known !== undefined) {
        servers.answered(known.server, unanswered);
        return known.answer;
      }
      if (!heard.some((known) => known.server === server && isReached(known.answer))) unanswered.add(server);
    }
    const failing = heard.filter(({ answer }) => isServfail(answer)).map(({ server }) => server);
    const isOfName = failing.length === 0 || (await control?.answersNow(failing)) === true;
    // A resolver that sends a mismatched datagram is not waiting for the name servers of the name.
    const isSilent = cut.length === 0 && mismatched === 0;
    const silent = isSilent && control?.isAnswered() === true ? [serversSilent(query.name)] : [];
    if (silent.length === 0) signal.throwIfAborted();
    const known = heard.map(({ answer }) => answer);
    return (
      mostTelling([...(isOfName ? known : ofFailingResolver(known, query.name)), ...silent]) ??
      cut[0] ??
      silence(query.name, mismatched)
    );
  } finally {
    abort();
  }
}

/**
 * @returns the first answer that succeeds or is final; undefined if the wait is over or the last server failed, so that
 *   the next one must be queried, and if the signal aborts
 */
async function firstAnswer(
  open: readonly Promise<Heard>[],
  last: Promise<Heard>,
  waitMs: number,
  signal: AbortSignal,
): Promise<Heard | undefined> {
  const { promise, resolve } = Promise.withResolvers<Heard | undefined>();
  const giveUp = (): void => resolve(undefined);
  const stopTimer = readFirstTimer(giveUp, waitMs);
  signal.addEventListener('abort', giveUp);
  for (const each of open) {
    void each.then((known) => {
      if (known.answer.ok || known.answer.final) resolve(known);
      else if (each === last) giveUp();
    });
  }
  try {
    return await promise;
  } finally {
    stopTimer();
    signal.removeEventListener('abort', giveUp);
  }
}

function octets({ family, value }: Address): Uint8Array {
  return Buffer.from(value.toString(16).padStart(ADDRESS_BITS[family] / 4, '0'), 'hex');
}
