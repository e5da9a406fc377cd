import { failureCodes, type Failure, type FailureCode } from '@vantage/contract';

import type { ProbeResult, SparseResultOf } from './probe-result.ts';
import { dnsReason, isRootSilent, isUnanswered, classifiedAnswer } from './dns-answer.ts';
import { listed, shown } from './words.ts';
import { failsByClock } from './clock.ts';
import { groupBy } from './probe-result.ts';
import { redirectedHost, redirectPlace } from './redirected.ts';

/** Failure reasons as phrases for the middle of a sentence. */
const phrases: Readonly<Record<FailureCode, string>> = {
  dns_nxdomain: 'the name does not exist',
  dns_no_address: 'the name has no address',
  dns_servfail: 'the resolver could not answer (SERVFAIL)',
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
  tls_weak_key: 'a key of the certificate chain is too weak',
  tls_untrusted: 'the certificate is not trusted',
  tls_handshake_failed: 'the TLS handshake failed',
  tls_protocol_unsupported: 'there is no version of TLS in common',
  http_status: 'the answer has an error status',
  http_malformed: 'the answer is not valid HTTP',
  http_headers_too_large: 'the head of the answer is too large',
  http2_ended: 'the server ended the HTTP/2 answer with an error',
  http_too_many_interim: 'there were too many interim answers',
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
  probe_timeout: 'the probe did not answer in time',
  invalid_job: 'the probe could not read the job',
  invalid_result: 'the probe reported no valid result',
  internal_error: 'the probe had an internal fault',
};

/** Phrases for failures after the start of an HTTP response. */
const interruptedPhrases: Readonly<Partial<Record<FailureCode, string>>> = {
  connection_reset: 'the connection was reset before the end of the answer',
  connection_closed: 'the connection was closed before the end of the answer',
  timed_out: 'the answer did not come to its end in time',
};

/** Phrases for http checks whose connection was made. */
const unfinishedPhrases: Readonly<Partial<Record<Failure['phase'], string>>> = {
  tls: 'the TLS handshake did not come to its end in time',
  request: 'the server took the connection and sent no answer in time',
};

export function phraseOf(code: FailureCode): string {
  return phrases[code];
}

/** Reason of one probe's failure, with details such as the HTTP status or rcode. */
export function reasonOf(probeResult: ProbeResult): string {
  const result = probeResult.result as SparseResultOf<'dns'>;
  const reason = resolverReason(result) ?? withPlace(reasonOfAny(probeResult), probeResult.result);
  // A trace does not use the resolver.
  if (isRootSilent(result)) return ofRoot(reason);
  if (result.trace !== undefined) return reason.replace(/\bthe resolver\b/, 'a name server of the zone');
  const { recordType, resolver } = result;
  const isResolvers = recordType !== undefined && typeof resolver === 'string' && isUnanswered(result);
  return isResolvers ? reason.replace(/\bthe resolver\b/, () => `the resolver ${shown(resolver)}`) : reason;
}

/** A trace without an answer of the root, as where the network of the probe lets no queries out. */
function ofRoot(reason: string): string {
  const servers = 'the root servers that were asked';
  const named = reason.replace(/\bthe resolver\b/, servers);
  return named === reason ? `${servers} gave no answer: ${reason}` : named;
}

/** Failures of the redirects themselves, which are not those of the place that they lead to. */
const ofRedirects: ReadonlySet<string> = new Set(['redirect_refused', 'redirect_loop', 'redirect_limit']);

/** Names the host that failed, if redirects led to another one. */
function withPlace(reason: string, result: SparseResultOf<'http'>): string {
  const host = redirectedHost(result);
  const { error } = result;
  if (host === undefined || ofRedirects.has(error?.code ?? '')) return reason;
  if (error?.phase !== 'resolve') return `${reason}${redirectPlace(result)}`;
  const named = reason.replace(/^the name\b/, () => `the name ${host}, to which it redirects,`);
  return named === reason ? `${reason} for ${host}, to which it redirects` : named;
}

/** Reason why a resolver sent no readable response; general phrases are made specific to the resolver. */
function resolverReason(result: SparseResultOf<'dns'>): string | undefined {
  const { recordType, trace, error } = result;
  const isDns = recordType !== undefined && trace === undefined;
  if (!isDns || error === null || error === undefined || error.source === 'probe') return undefined;
  if (error.phase === 'resolve' || classifiedAnswer(result) !== undefined) return undefined;
  if (error.code === 'dns_resolver_unreachable') return phrases.dns_resolver_unreachable;
  if (error.code === 'dns_servers_silent') return phrases.dns_servers_silent;
  if (error.code === 'timed_out') return 'the resolver did not answer in time';
  if (error.code === 'dns_bad_response') return 'the answer of the resolver was no valid DNS message';
  return Object.hasOwn(phrases, error.code) ? `the resolver did not answer: ${phrases[error.code]}` : undefined;
}

function reasonOfAny(probeResult: ProbeResult): string {
  const { error, statusCode, url, http2Error, rcode, ttl, size, state } = probeResult.result as SparseResultOf<'http'> &
    Pick<SparseResultOf<'dns'>, 'rcode'> &
    Pick<SparseResultOf<'ping'>, 'ttl' | 'size'> &
    Pick<SparseResultOf<'tcp'>, 'state'>;
  const code = error?.code;
  if (failsByClock(probeResult.result)) return 'the clock of the probe is wrong';
  const dns = dnsReason(probeResult.result);
  if (dns !== undefined) return dns;
  if (code === undefined || !Object.hasOwn(failureCodes, code)) return phrases.timed_out;
  const unresolved = error?.phase === 'resolve' ? resolutionReason(error) : undefined;
  if (unresolved !== undefined) return unresolved;
  const isAnswerBegun = statusCode !== undefined || (url !== undefined && error?.phase === 'response');
  if (isAnswerBegun && interruptedPhrases[code] !== undefined) return interruptedPhrases[code];
  const unfinished =
    code === 'timed_out' && url !== undefined ? unfinishedPhrases[error?.phase ?? 'connect'] : undefined;
  if (unfinished !== undefined) return unfinished;
  // After another attempt, `http2Error` may belong to the previous one.
  const isHttp2End = code === 'http2_ended' || (code === 'protocol_unreachable' && error?.phase === 'request');
  if (isHttp2End && http2Error !== undefined) return http2Reason(http2Error, isAnswerBegun);
  // The handshake was complete on the client side.
  const isAfterHandshake = error?.phase === 'request' || error?.phase === 'response';
  if (code === 'tls_handshake_failed' && isAfterHandshake) return 'TLS failed after the handshake';
  if (code === 'http_status' && statusCode !== undefined) return `status ${statusCode}`;
  if (code === 'dns_error' && rcode !== undefined)
    return `the resolver answered ${/^[A-Z0-9]{1,16}$/.test(rcode) ? rcode : 'an error'}`;
  if (code === 'port_unreachable' && state === 'filtered') return 'a packet filter refuses the port';
  if (code === 'time_exceeded' && ttl !== undefined)
    return `the TTL of ${ttl} that was asked for was used up on the way`;
  if (code === 'packet_too_big' && size !== undefined)
    return `packets with ${size} bytes of payload are too big for ${error?.source === 'probe' ? 'the probe’s own link' : 'the path'}`;
  return `${phrases[code]}${asked(probeResult.result)}`;
}

/** Phrases for targets that were not resolved, where the general ones would be those of dns checks. */
function resolutionReason({ code, source, canonicalName }: Failure): string | undefined {
  if (code === 'timed_out') return 'the name was not resolved in time';
  if (code === 'dns_no_answer') {
    return source === 'target' ? 'its aliases lead in a circle' : 'the resolver gave no answer about the name';
  }
  if (code !== 'dns_nxdomain' || canonicalName === undefined) return undefined;
  return `the name is an alias of ${shown(canonicalName, 120)}, which does not exist`;
}

/** Notes that not all addresses were tried; the others may respond. */
function asked({ error, addresses, deadAddresses }: SparseResultOf<'http'>): string {
  if (error?.phase !== 'connect' || deadAddresses === undefined || addresses === undefined) return '';
  if (addresses.length <= deadAddresses.length) return '';
  return `, with ${deadAddresses.length} of the ${addresses.length} addresses of the name asked`;
}

function http2Reason(
  { frame, name }: NonNullable<SparseResultOf<'http'>['http2Error']>,
  isAnswerBegun: boolean,
): string {
  const ended = `the server ended the HTTP/2 ${frame === 'GOAWAY' ? 'connection' : 'stream'} with ${shown(name, 24)}`;
  return isAnswerBegun ? `${ended} before the end of the answer` : ended;
}

/** Reasons of several probes, most frequent first, with counts if they differ. */
export function reasonsOf(probeResults: readonly ProbeResult[]): string {
  const groups = groupBy(probeResults, reasonOf);
  if (groups.length === 1) return groups[0]![0];
  return listed(
    groups.map(([reason, own]) => `${reason} (${own.length})`),
    3,
  );
}
