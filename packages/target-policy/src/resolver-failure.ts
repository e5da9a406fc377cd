import type { Failure, FailureCode, FailureSource } from '@vantage/contract';

interface Verdict {
  readonly code: FailureCode;
  readonly source: FailureSource;
  /** Follows the name: `example.com …`. */
  readonly predicate: string;
}

/** What each error of c-ares means. */
const byCode: Readonly<Record<string, Verdict>> = {
  ENOTFOUND: { code: 'dns_nxdomain', source: 'target', predicate: 'does not exist (NXDOMAIN).' },
  ENODATA: { code: 'dns_no_address', source: 'target', predicate: 'has no address of the family asked for.' },
  ESERVFAIL: { code: 'dns_servfail', source: 'resolver', predicate: 'could not be resolved (SERVFAIL).' },
  EREFUSED: { code: 'dns_refused', source: 'resolver', predicate: 'was not resolved: the resolver refused (REFUSED).' },
  EFORMERR: {
    code: 'dns_format_error',
    source: 'resolver',
    predicate: 'was not resolved: the resolver could not read the question (FORMERR).',
  },
  ENOTIMP: {
    code: 'dns_not_implemented',
    source: 'resolver',
    predicate: 'was not resolved: the resolver does not support the question (NOTIMP).',
  },
  EBADRESP: {
    code: 'dns_bad_response',
    source: 'resolver',
    predicate: 'was not resolved: the answer was no valid DNS message.',
  },
  ETIMEOUT: { code: 'timed_out', source: 'resolver', predicate: 'was not resolved: no resolver answered in time.' },
  ECONNREFUSED: {
    code: 'dns_resolver_unreachable',
    source: 'resolver',
    predicate: 'was not resolved: no resolver could be reached.',
  },
};

/** Turns what c-ares rejected with into a failure. Total: what it does not know is `dns_error`. */
export function resolverFailure(thrown: unknown, name: string): Failure {
  const code = Error.isError(thrown) && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : 'unknown';
  const { predicate, ...verdict } = (Object.hasOwn(byCode, code) ? byCode[code] : undefined) ?? {
    code: 'dns_error' as const,
    source: 'resolver' as const,
    predicate: `could not be resolved (${code}).`,
  };
  return { ...verdict, phase: 'resolve', message: `${name} ${predicate}` };
}
