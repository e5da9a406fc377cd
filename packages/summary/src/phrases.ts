import type { Failure, FailureCode } from '@vantage/contract';

import type { SparseResultOf } from './probe-result.ts';
import { safeText } from './words.ts';

/** Failure reasons as phrases for the middle of a sentence. */
export const phrases: Readonly<Record<FailureCode, string>> = {
  dns_nxdomain: 'the name does not exist',
  dns_no_address: 'the name has no address',
  dns_servfail: 'the resolver could not answer (SERVFAIL)',
  dns_resolver_failing: 'the resolver could not answer (SERVFAIL), and may fail for every name',
  dns_servers_silent:
    'the name got no answer in time, though the resolver answers others: its name servers seem to be silent',
  dns_refused: 'the resolver refused to answer (REFUSED)',
  dns_format_error: 'the resolver could not read the question (FORMERR)',
  dns_not_implemented: 'the resolver does not support the question (NOTIMP)',
  dns_error: 'the resolver answered with an error',
  dns_bad_response: 'the answer was no valid DNS message',
  dns_no_answer: 'the server did not answer the question',
  dns_resolver_unreachable: 'the resolver could not be reached',
  connection_refused: 'the connection was refused',
  connection_reset: 'the connection was reset',
  connection_closed: 'the connection was closed without an answer',
  dialogue_too_large: 'the dialogue of the module became larger than a check may be',
  host_unreachable: 'the host is unreachable',
  network_unreachable: 'there is no route to the network',
  port_unreachable: 'the port is unreachable',
  protocol_unreachable: 'the target does not speak the protocol',
  administratively_prohibited: 'a filter forbids the traffic',
  time_exceeded: 'the packets ran out of hops',
  packet_too_big: 'the packets are too big for the path',
  icmp_error: 'an ICMP error came in answer',
  timed_out: 'nothing came back in time',
  tls_expired: 'the certificate has expired',
  tls_not_yet_valid: 'the certificate is not valid yet',
  tls_hostname_mismatch: 'the certificate is not for this host',
  tls_self_signed: 'the certificate is self-signed',
  tls_unknown_issuer: 'the issuer of the certificate is not trusted',
  tls_missing_intermediate: 'the server does not send the intermediate certificate',
  tls_revoked: 'the certificate is revoked',
  tls_weak_key: 'a key or a signature of the certificate chain is too weak',
  tls_untrusted: 'the certificate is not trusted',
  tls_handshake_failed: 'the TLS handshake failed',
  tls_protocol_unsupported: 'there is no version of TLS in common',
  http_status: 'the answer has an error status',
  http_malformed: 'the answer is not valid HTTP',
  http_headers_too_large: 'the head of the answer is too large',
  http2_ended: 'the server ended the HTTP/2 answer with an error',
  http_too_many_interim: 'there were too many interim answers',
  http_body_unfinished: 'the answer began in time, but its body did not end in time',
  http_decode_failed: 'the body of the answer could not be decoded',
  redirect_refused: 'a redirect leads to where no probe may go',
  redirect_loop: 'the redirects lead in a circle',
  token_refused: 'the token server gave none',
  redirect_limit: 'there were more redirects than were asked for',
  screenshot_failed: 'the browser could not show the page',
  target_refused_by_policy: 'the policy of the probe refuses the target',
  target_rate_limited: 'the probe has measured the network of the target often enough',
  family_unavailable: 'the probe has no connectivity of the address family',
  capability_missing: 'the probe lacks what the check needs',
  probe_offline: 'the probe was offline',
  probe_busy: 'the probe was too busy',
  probe_interrupted: 'the probe was interrupted',
  probe_suspended: 'the probe was suspended',
  probe_removed: 'the probe was removed',
  probe_timeout: 'the probe did not answer in time',
  invalid_job: 'the probe could not read the job',
  invalid_result: 'the probe reported no valid result',
  internal_error: 'the probe had an internal fault',
};

/** Phrases for failures whose source is the probe. */
export const probesPhrases: typeof phrases = {
  ...phrases,
  host_unreachable: 'the probe has no route, or no next hop that answers',
  packet_too_big: 'the packets are too big for the probe’s own link',
  port_unreachable: 'the probe has rules that refuse the packets',
  administratively_prohibited: 'the probe has rules that forbid the traffic',
};

/** Phrases for failures after the start of an HTTP response. */
export const interruptedPhrases: Readonly<Partial<Record<FailureCode, string>>> = {
  connection_reset: 'the connection was reset before the end of the answer',
  connection_closed: 'the connection was closed before the end of the answer',
  timed_out: 'the answer did not come to its end in time',
};

/**
 * Phrases for tcp checks that failed while they waited for a line that matches the expression of a module: other lines
 * may have arrived.
 */
export const unmatchedPhrases: Readonly<Partial<Record<FailureCode, string>>> = {
  connection_reset: 'the connection was reset before a line matched the expression of the module',
  connection_closed: 'the connection was closed before a line matched the expression of the module',
  timed_out: 'no line matched the expression of the module in time',
};

/** Phrases for http checks that timed out after their connection was made. */
export const unfinishedPhrases: Readonly<Partial<Record<Failure['phase'], string>>> = {
  request: 'the connection was made, and no answer came in time',
};

/** Phrases for http checks that failed in the TLS handshake, during which part of an answer may have arrived. */
export const handshakePhrases: Readonly<Partial<Record<FailureCode, string>>> = {
  connection_reset: 'the connection was reset in the TLS handshake',
  connection_closed: 'the connection was closed in the TLS handshake',
  timed_out: 'the TLS handshake did not come to its end in time',
};

/** Reason for an HTTP/2 answer that the server ended by RST_STREAM or GOAWAY. */
export function http2Reason(
  { frame, name }: NonNullable<SparseResultOf<'http'>['http2Error']>,
  isAnswerBegun: boolean,
): string {
  const ended = `the server ended the HTTP/2 ${frame === 'GOAWAY' ? 'connection' : 'stream'} with ${safeText(name, 24)}`;
  return isAnswerBegun ? `${ended} before the end of the answer` : ended;
}

export function phraseOf(code: FailureCode): string {
  return phrases[code];
}
