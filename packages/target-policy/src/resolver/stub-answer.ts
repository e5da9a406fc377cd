import type { Failure } from '@vantage/contract';
import {
  classifyAnswer,
  rcodeName,
  sameName,
  type AnswerKind,
  type Message,
  type Query,
} from '@vantage/contract/dns-message';

import { readOrNothing } from './stub-message.ts';

/** The types of the records that give the addresses of a name, or the name of an address. */
export const questionTypes = {
  A: { code: 1, name: 'A' },
  PTR: { code: 12, name: 'PTR' },
  AAAA: { code: 28, name: 'AAAA' },
} as const;

export type StubAnswer = { readonly ok: true; readonly data: readonly string[] } | FailedAnswer;

/** `final`: conclusive about the name. Otherwise another resolver may know more. */
export interface FailedAnswer {
  readonly ok: false;
  readonly final: boolean;
  readonly failure: Failure;
}

/**
 * Evaluates an answer. Only records of the queried name and its aliases count, and their length must fit the type, so
 * that only addresses in the answer are measured.
 */
export function readAnswer(bytes: Uint8Array, query: Omit<Query, 'id'>): StubAnswer {
  const message = readOrNothing(bytes);
  if (message === undefined || message.formatError !== null) {
    return failed(query.name, 'dns_bad_response', 'was not resolved: the answer was no valid DNS message.');
  }
  const { flags, authority, edns, questions } = message;
  const queryName = questions[0]?.name ?? query.name;
  const answers = message.answers;
  const { kind, canonicalName } = classifyAnswer({
    queryName,
    recordType: query.recordType.name,
    recursionDesired: true,
    rcode: rcodeName(message.rcode),
    flags,
    answers,
    authority,
    extendedErrors: edns?.extendedErrors.map(({ code }) => code),
  });
  if (kind !== 'answer') return withoutRecords(kind, message, query.name, canonicalName);
  const owner = canonicalName ?? queryName;
  const own = answers.filter(({ type, name }) => type === query.recordType.name && sameName(name, owner));
  return { ok: true, data: own.map(({ data }) => data) };
}

function withoutRecords(
  kind: Exclude<AnswerKind, 'answer'>,
  message: Message,
  name: string,
  alias: string | null,
): StubAnswer {
  const { rcode, flags } = message;
  switch (kind) {
    case 'nxdomain': {
      const predicate = alias === null ? 'does not exist' : `is an alias of ${withoutDot(alias)}, which does not exist`;
      const missing = ofTarget(name, 'dns_nxdomain', `${predicate} (NXDOMAIN).`);
      return alias === null
        ? missing
        : { ...missing, failure: { ...missing.failure, canonicalName: withoutDot(alias) } };
    }
    case 'nodata':
      return ofTarget(name, 'dns_no_address', 'has no address of the family asked for.');
    case 'filtered':
      return failed(
        name,
        'dns_no_answer',
        'was not resolved: the resolver says that it filters the answer (RFC 8914).',
        true,
      );
    case 'error':
      return failed(
        name,
        ...(byRcode[rcode] ?? (['dns_error', `could not be resolved (${rcodeName(rcode)}).`] as const)),
      );
    case 'foreign':
    case 'malformed':
      return failed(
        name,
        'dns_bad_response',
        'was not resolved: the answer holds records of other names or types alone.',
      );
    case 'loop':
      return ofTarget(name, 'dns_no_answer', 'was not resolved: its aliases lead in a circle.');
    case 'truncated':
      return failed(
        name,
        'dns_no_answer',
        'was not resolved: the answer is cut off (TC), and there is no whole one over TCP.',
      );
    case 'alias':
      // A server with RA counts as a resolver that followed the aliases to the end, although no SOA proves NODATA.
      if (flags.includes('ra')) return withoutRecords('nodata', message, name, alias);
      return noProof(name);
    case 'lame':
    case 'referral':
    default:
      return noProof(name);
  }
}

function noProof(name: string): StubAnswer {
  const predicate = 'was not resolved: the resolver answered with neither records nor a proof that there are none.';
  return failed(name, 'dns_no_answer', predicate);
}

/**
 * The failure if no resolver answered.
 *
 * @param mismatched number of datagrams that did not answer the question
 */
export function silence(name: string, mismatched = 0): FailedAnswer {
  const others = mismatched === 0 ? '' : ' What came did not answer the question.';
  return failed(name, 'timed_out', `was not resolved: no resolver answered in time.${others}`);
}

/** The failure if a resolver answered, but not about the name. */
export function serversSilent(name: string): FailedAnswer {
  const predicate =
    'was not resolved: the resolver answered about another name of its top-level domain, but not about this one in time.';
  return failed(name, 'dns_servers_silent', predicate);
}

/** The failure if a resolver answered SERVFAIL, and no answer shows that it resolves other names. */
export function resolverFailing(name: string): FailedAnswer {
  const predicate = 'could not be resolved (SERVFAIL), and the resolver may fail for every name.';
  return failed(name, 'dns_resolver_failing', predicate);
}

const byRcode: Readonly<Record<number, readonly [Failure['code'], string]>> = {
  1: ['dns_format_error', 'was not resolved: the resolver could not read the question (FORMERR).'],
  2: ['dns_servfail', 'could not be resolved (SERVFAIL).'],
  4: ['dns_not_implemented', 'was not resolved: the resolver does not support the question (NOTIMP).'],
  5: ['dns_refused', 'was not resolved: the resolver refused (REFUSED).'],
};

function ofTarget(name: string, code: Failure['code'], predicate: string): FailedAnswer {
  return { ok: false, final: true, failure: { ...failure(name, code, predicate), source: 'target' } };
}

function failed(name: string, code: Failure['code'], predicate: string, final = false): FailedAnswer {
  return { ok: false, final, failure: failure(name, code, predicate) };
}

/** A failure of the resolver. `predicate` follows the name. */
export function failure(name: string, code: Failure['code'], predicate: string): Failure {
  return { code, phase: 'resolve', source: 'resolver', message: `${withoutDot(name)} ${predicate}` };
}

function withoutDot(name: string): string {
  return name.length > 1 && name.endsWith('.') ? name.slice(0, -1) : name;
}
