import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

import type { Failure, Family } from '@vantage/contract';
import { reverseName, type Query } from '@vantage/contract/dns-message';

import { ADDRESS_BITS, parseAddress, type Address } from '../addresses/address.ts';
import { readFirstTimer } from './read-first-timer.ts';
import { failure, questionTypes, readAnswer, type StubAnswer } from './stub-answer.ts';
import { askServer, type ResolverAddress } from './stub-transport.ts';
import { systemResolvers } from './system-resolvers.ts';

export type AddressAnswer =
  | { readonly ok: true; readonly addresses: readonly string[] }
  | { readonly ok: false; readonly failure: Failure };

/** Questions to the probe's own resolvers. Each rejects only with the reason of `signal`. */
export interface NameResolver {
  /** A or AAAA records, in the order of the answer, each in canonical text. */
  readonly addresses: (name: string, family: Family, signal: AbortSignal) => Promise<AddressAnswer>;
  /** PTR records in presentation format; empty for whatever goes wrong. */
  readonly reverse: (address: string, signal: AbortSignal) => Promise<readonly string[]>;
}

export interface NameResolverOptions {
  /** `address`, `address:port` or `[address]:port`, in order; empty for those of the system. */
  readonly servers: readonly string[];
  /** Wait for the first answer of each server; each further round waits twice as long. */
  readonly timeoutMs?: number;
  /** Rounds over all servers. */
  readonly tries?: number;
}

/**
 * A stub resolver (RFC 1034 section 5.3.1): no hosts file, no search list, no cache. It is our own since c-ares takes the
 * first four octets of an A record of eight for its address, and addresses of other names for those of the name.
 *
 * @throws when a server is no address
 */
export function createNameResolver({ servers, timeoutMs = 1_500, tries = 2 }: NameResolverOptions): NameResolver {
  const configured = servers.length === 0 ? undefined : readServers(servers);
  const ask = (name: string, type: keyof typeof questionTypes, signal: AbortSignal): Promise<StubAnswer> => {
    const attempts = inRounds(configured ?? readServers([]), timeoutMs, tries);
    return askInTurn(attempts, { ...question, name: `${name}.`, recordType: questionTypes[type] }, signal);
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

/** Those of the system are read again for each question: they change where a machine moves. */
function readServers(servers: readonly string[]): readonly ResolverAddress[] {
  if (servers.length === 0) return systemResolvers().map(readServer);
  // It validates, and says which one is no address.
  new Resolver().setServers(servers);
  return servers.map(readServer);
}

/** @param text `address`, `[address]`, `address:port` or `[address]:port` */
function readServer(text: string): ResolverAddress {
  if (isIP(text) !== 0) return { address: text, port: 53 };
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text)!;
  return { address: (bracketed ?? plain)!, port: port === undefined ? 53 : Number(port) };
}

interface Attempt {
  readonly server: ResolverAddress;
  readonly waitMs: number;
}

function inRounds(servers: readonly ResolverAddress[], timeoutMs: number, tries: number): readonly Attempt[] {
  return Array.from({ length: tries }, (_, round) => round).flatMap((round) =>
    servers.map((server) => ({ server, waitMs: timeoutMs * 2 ** round })),
  );
}

type Question = Omit<Query, 'id'>;

/**
 * Asks one server after the other until one says something about the name. An earlier one may still answer while a later
 * one is asked.
 */
async function askInTurn(attempts: readonly Attempt[], query: Question, signal: AbortSignal): Promise<StubAnswer> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const heard: StubAnswer[] = [];
  const open: Promise<StubAnswer>[] = [];
  try {
    for (const { server, waitMs } of attempts) {
      signal.throwIfAborted();
      const answer = askOnce(server, query, either);
      open.push(answer);
      void answer.then((known) => heard.push(known));
      const known = await firstAnswer(open, answer, waitMs, signal);
      if (known !== undefined) return known;
    }
    signal.throwIfAborted();
    return heard.find((known) => !known.ok) ?? silence(query.name);
  } finally {
    over.abort();
  }
}

/** @returns undefined where the next server is to be asked */
async function firstAnswer(
  open: readonly Promise<StubAnswer>[],
  last: Promise<StubAnswer>,
  waitMs: number,
  signal: AbortSignal,
): Promise<StubAnswer | undefined> {
  const { promise, resolve } = Promise.withResolvers<StubAnswer | undefined>();
  const giveUp = (): void => resolve(undefined);
  const stopTimer = readFirstTimer(giveUp, waitMs);
  signal.addEventListener('abort', giveUp);
  for (const each of open) {
    void each.then((known) => {
      if (known.ok || known.final) resolve(known);
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

/** Wait for the answer to a query with EDNS before one without is sent too, milliseconds. */
const EDNS_WAIT_MS = 500;

const UNREACHABLE = 'dns_resolver_unreachable';

/**
 * Never rejects. EDNS is for large answers and extended errors; servers, forwarders and firewalls that do not know it drop
 * such a query, fail, refuse, or send nonsense (RFC 6891 section 7 names some). So the query is sent without it if the one
 * with it is not answered soon, or by nothing about the name.
 */
async function askOnce(server: ResolverAddress, query: Question, signal: AbortSignal): Promise<StubAnswer> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const withEdns = askOnceAsIs(server, query, either);
  const { promise: late, resolve: isLate } = Promise.withResolvers<undefined>();
  const stopTimer = readFirstTimer(() => isLate(undefined), EDNS_WAIT_MS);
  try {
    const early = await Promise.race([withEdns, late]);
    if (early !== undefined && (early.ok || early.final || early.failure.code === UNREACHABLE)) return early;
    return await firstAboutName([withEdns, askOnceAsIs(server, { ...query, edns: null }, either)]);
  } finally {
    stopTimer();
    over.abort();
  }
}

/** If none is about the name, the first of the list. */
async function firstAboutName(asked: readonly [Promise<StubAnswer>, Promise<StubAnswer>]): Promise<StubAnswer> {
  const telling = asked.map(async (each) => {
    const answer = await each;
    return answer.ok || answer.final ? answer : Promise.reject(new Error(answer.failure.message));
  });
  try {
    return await Promise.any(telling);
  } catch {
    return asked[0];
  }
}

async function askOnceAsIs(server: ResolverAddress, query: Question, signal: AbortSignal): Promise<StubAnswer> {
  try {
    return readAnswer(await askServer(server, query, signal), query);
  } catch {
    const known = failure(query.name, UNREACHABLE, 'was not resolved: no resolver could be reached.');
    return { ok: false, final: false, failure: known };
  }
}

function silence(name: string): StubAnswer {
  const known = failure(name, 'timed_out', 'was not resolved: no resolver answered in time.');
  return { ok: false, final: false, failure: known };
}

function octets({ family, value }: Address): Uint8Array {
  return Buffer.from(value.toString(16).padStart(ADDRESS_BITS[family] / 4, '0'), 'hex');
}
