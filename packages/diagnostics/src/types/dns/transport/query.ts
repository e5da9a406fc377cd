import { type Message, MessageFormatError, type Query, encodeName, encodeQuery } from '@vantage/contract/dns-message';
import type { Failure, Target } from '@vantage/contract';

import { readPresentedMessage } from '../codec/message.ts';

import type { DnsTransport } from '../resolver.ts';

/** A name server to query, pinned to one address. */
export interface NameServer {
  readonly target: Target;
  readonly port: number;
}

export interface Answer {
  readonly message: Message;
  readonly server: NameServer;
  readonly transport: DnsTransport;
  /** Size of the DNS message, without the length that precedes it over TCP. */
  readonly bytes: number;
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  /** Time from the query that was answered to its answer. */
  readonly queryMs: number;
}

/** An answer, or why there is none; both for a malformed one, which is parsed as far as possible. */
export type QueryOutcome =
  | { readonly answer: Answer; readonly failure: Failure | null }
  | { readonly answer: null; readonly failure: Failure };

/** A query in wire format except for its id. */
export interface PreparedQuery {
  readonly query: Omit<Query, 'id'>;
  readonly withId: (id: number) => Uint8Array;
  /** Octets of the name in the question section. */
  readonly nameBytes: number;
}

/** @throws RangeError for a name that cannot be written */
export function prepareQuery(query: Omit<Query, 'id'>): PreparedQuery {
  const bytes = encodeQuery({ ...query, id: 0 });
  const withId = (id: number): Uint8Array => {
    const numbered = Uint8Array.from(bytes);
    numbered[0] = id >> 8;
    numbered[1] = id & 0xff;
    return numbered;
  };
  return { query, withId, nameBytes: encodeName(query.name).length };
}

/** Decodes an answer; a violation of the format is a failure of the resolver, and the readable part is kept. */
export function decodeAnswer(bytes: Uint8Array, common: Omit<Answer, 'message' | 'bytes'>): QueryOutcome {
  try {
    const message = readPresentedMessage(bytes);
    const answer = { ...common, bytes: bytes.length, message };
    return { answer, failure: message.formatError === null ? null : invalidMessage(message.formatError) };
  } catch (error) {
    if (!(error instanceof MessageFormatError)) throw error;
    return failed(invalidMessage(error.message));
  }
}

function invalidMessage(breach: string): Failure {
  return badResponse(`The answer is not a valid DNS message: ${breach}.`);
}

/** The TC bit, which is readable even in a malformed message. */
export function isTruncated(bytes: Uint8Array): boolean {
  return (bytes[2]! & 0x02) !== 0;
}

export function badResponse(message: string): Failure {
  return { code: 'dns_bad_response', phase: 'response', source: 'resolver', message };
}

export function failed(failure: Failure): QueryOutcome {
  return { answer: null, failure };
}

const unreachable: ReadonlySet<Failure['code']> = new Set([
  'connection_refused',
  'host_unreachable',
  'network_unreachable',
  'port_unreachable',
  'protocol_unreachable',
  'administratively_prohibited',
]);

/** Attributes a failure of the queried server to the resolver, because the target of a dns check is the name. */
export function resolverFailure(failure: Failure): Failure {
  if (unreachable.has(failure.code)) {
    const source = failure.source === 'target' ? 'resolver' : failure.source;
    const message = `The resolver could not be reached. ${failure.message.replace('The target', 'It')}`;
    return { ...failure, code: 'dns_resolver_unreachable', source, message };
  }
  if (failure.code === 'timed_out') return { ...failure, message: 'The resolver did not answer in time.' };
  if (failure.source !== 'target') return failure;
  return { ...failure, source: 'resolver', message: failure.message.replace('The target', 'The resolver') };
}
