import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

import type { Failure, Family } from '@vantage/contract';
import { reverseName, type Query } from '@vantage/contract/dns-message';

import { ADDRESS_BITS, parseAddress, type Address } from './address.ts';
import { readFirstTimer } from './read-first-timer.ts';
import { failure, questionTypes, readAnswer, wantsNoEdns, type StubAnswer } from './stub-answer.ts';
import { askServer, type ResolverAddress } from './stub-transport.ts';

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
  const reader = new Resolver();
  if (servers.length > 0) reader.setServers(servers);
  return reader.getServers().map(readServer);
}

/** @param text as Node writes it: the port only where it is not 53 */
function readServer(text: string): ResolverAddress {
  if (isIP(text) !== 0) return { address: text, port: 53 };
  const at = text.lastIndexOf(':');
  return { address: text.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(text.slice(at + 1)) };
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

/** Never rejects. */
async function askOnce(server: ResolverAddress, query: Question, signal: AbortSignal): Promise<StubAnswer> {
  try {
    const bytes = await askServer(server, query, signal);
    if (!wantsNoEdns(bytes)) return readAnswer(bytes, query);
    const plain = { ...query, edns: null };
    return readAnswer(await askServer(server, plain, signal), plain);
  } catch (error) {
    const isCutOff = Error.isError(error) && 'code' in error && error.code === 'ECONNRESET';
    const known = isCutOff
      ? failure(query.name, 'connection_closed', 'was not resolved: the resolver closed the connection.')
      : failure(query.name, 'dns_resolver_unreachable', 'was not resolved: no resolver could be reached.');
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
