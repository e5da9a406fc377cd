import type { Failure } from '../failure.ts';

/** Mnemonics of rcodes: RFC 6895 section 2.3 and its IANA registry. */
const rcodeNames: Readonly<Record<number, string>> = {
  0: 'NOERROR',
  1: 'FORMERR',
  2: 'SERVFAIL',
  3: 'NXDOMAIN',
  4: 'NOTIMP',
  5: 'REFUSED',
  6: 'YXDOMAIN',
  7: 'YXRRSET',
  8: 'NXRRSET',
  9: 'NOTAUTH',
  10: 'NOTZONE',
  11: 'DSOTYPENI',
  16: 'BADVERS',
  17: 'BADKEY',
  18: 'BADTIME',
  19: 'BADMODE',
  20: 'BADNAME',
  21: 'BADALG',
  22: 'BADTRUNC',
  23: 'BADCOOKIE',
};

const codeByRcode: Readonly<Record<number, Failure['code']>> = {
  1: 'dns_format_error',
  2: 'dns_servfail',
  3: 'dns_nxdomain',
  4: 'dns_not_implemented',
  5: 'dns_refused',
};

/** The mnemonic, or `RCODE<n>` for a number without one. */
export function rcodeName(rcode: number): string {
  return rcodeNames[rcode] ?? `RCODE${rcode}`;
}

/**
 * Failure code for an rcode other than NOERROR.
 *
 * @param alias end of the queried name's alias chain: NXDOMAIN is about that name (RFC 6604)
 */
export function rcodeFailure(rcode: number, alias: string | null = null): Failure {
  const missing =
    alias === null
      ? 'The name does not exist (NXDOMAIN).'
      : `The name is an alias of ${alias}, which does not exist (NXDOMAIN).`;
  const message = rcode === 3 ? missing : `The server answered ${rcodeName(rcode)}.`;
  return { code: codeByRcode[rcode] ?? 'dns_error', phase: 'response', source: 'resolver', message };
}

/** Names of extended errors by their code: RFC 8914 section 5.2 and its IANA registry. */
const extendedErrorNames: readonly string[] = [
  'Other',
  'Unsupported DNSKEY Algorithm',
  'Unsupported DS Digest Type',
  'Stale Answer',
  'Forged Answer',
  'DNSSEC Indeterminate',
  'DNSSEC Bogus',
  'Signature Expired',
  'Signature Not Yet Valid',
  'DNSKEY Missing',
  'RRSIGs Missing',
  'No Zone Key Bit Set',
  'NSEC Missing',
  'Cached Error',
  'Not Ready',
  'Blocked',
  'Censored',
  'Filtered',
  'Prohibited',
  'Stale NXDOMAIN Answer',
  'Not Authoritative',
  'Not Supported',
  'No Reachable Authority',
  'Network Error',
  'Invalid Data',
  'Signature Expired before Valid',
  'Too Early',
  'Unsupported NSEC3 Iterations Value',
  'Unable to conform to policy',
  'Synthesized',
  'Invalid Query Type',
];

export function extendedErrorName(code: number): string {
  return extendedErrorNames[code] ?? `EDE${code}`;
}
