import { Type, type Static } from './type.ts';

/**
 * All codes of a result's `error` with their documentation; a closed list. A result with another code fails validation.
 */
export const failureCodes = {
  // Name resolution.
  dns_nxdomain: 'The name does not exist (rcode NXDOMAIN, RFC 1035).',
  dns_no_address: 'The name exists but has no address of the requested family (NODATA, RFC 2308).',
  dns_servfail: 'The resolver could not answer (rcode SERVFAIL); often a broken delegation or a DNSSEC failure.',
  dns_resolver_failing:
    'The resolver could not answer (rcode SERVFAIL), and answered a question about a made-up name in the same top-level ' +
    'domain with SERVFAIL, from its cache, or not at all, or fails DNSSEC validation for the root as well, as with a wrong clock: it may ' +
    'fail for every name.',
  dns_servers_silent:
    'The resolver reached a name server for a made-up name in the same top-level domain, but did not answer about the name ' +
    'in time: the name servers of the name seem not to respond.',
  dns_refused: 'The resolver refused to answer (rcode REFUSED).',
  dns_format_error: 'The resolver could not read the question (rcode FORMERR).',
  dns_not_implemented: 'The resolver does not support this kind of question (rcode NOTIMP).',
  dns_error: 'The resolver answered with another error rcode, which `rcode` names.',
  dns_bad_response: 'The answer was not a valid DNS message for the query.',
  dns_no_answer:
    'The server did not answer the question: it referred to another zone, sent neither records nor a ' +
    'proof of their absence, a truncated answer (TC), or circular aliases; `answerKind` has the case.',
  dns_resolver_unreachable: 'The resolver, or in a trace the name servers of a zone, could not be reached or resolved.',
  // Connections and packets.
  connection_refused: 'The target refused the connection (TCP RST to a SYN).',
  connection_reset: 'The target reset the connection after it was established.',
  connection_closed:
    'The target closed the connection before it had answered, or before a line matched the expression of the module ' +
    '(`dialogue.unmatched`).',
  dialogue_too_large:
    'The dialogue of a module has more bytes than a check reads from the target, or sends to it with what the target put into the lines.',
  host_unreachable:
    'A router or the target reported the host as unreachable (ICMP host unreachable, EHOSTUNREACH), or ' +
    'the target does not answer on a link that it shares with the probe; with the source `probe`, the probe has no ' +
    'route, or the next hop does not answer on its link.',
  network_unreachable:
    'A router has no route to the network (ICMP network unreachable); with the source `probe`, the probe ' +
    'itself has none (ENETUNREACH).',
  port_unreachable:
    'The target, or a router on the path, reported the port as unreachable (ICMP). From the target in ' +
    'reply to a datagram: nothing listens there. From another sender, or in reply to a SYN: a packet ' +
    'filter refuses it.',
  protocol_unreachable: 'The target does not speak the protocol (ICMP protocol unreachable).',
  administratively_prohibited:
    'A filter on the path prohibits the traffic (ICMP administratively prohibited); with the source ' +
    '`probe`, its firewall does.',
  time_exceeded: 'The packet’s TTL expired before it reached the target (ICMP time exceeded).',
  packet_too_big: 'The packet is larger than the path carries (ICMP fragmentation needed or packet too big).',
  icmp_error: 'Another ICMP error arrived in reply; the message names its type and code.',
  timed_out: 'No reply arrived in time.',
  // TLS.
  tls_expired: 'The certificate, or one above it, is past its end of validity.',
  tls_not_yet_valid: 'The certificate, or one above it, is not valid yet.',
  tls_hostname_mismatch: 'The certificate is not for this host.',
  tls_self_signed: 'The certificate is self-signed and not trusted.',
  tls_unknown_issuer: 'The certificate chain ends at an issuer that is not trusted.',
  tls_missing_intermediate:
    'The chain ends below an issuer that the server did not send and that is no trusted root, although ' +
    'its certificate can be downloaded.',
  tls_revoked: 'The certificate is revoked, by the OCSP response that the server stapled.',
  tls_weak_key: 'A key or signature in the chain is too weak to be trusted.',
  tls_untrusted: 'The certificate is not trusted for another reason, which the message names.',
  tls_handshake_failed: 'The TLS handshake failed, or TLS failed after it; see the phase.',
  tls_protocol_unsupported: 'The server does not speak a TLS version that this probe speaks.',
  // HTTP.
  http_status: 'The target answered with a status of 400 or above.',
  http_malformed: 'The answer was not valid HTTP.',
  http_headers_too_large: 'The head of the answer was larger than the limit.',
  http2_ended:
    'The target ended the HTTP/2 stream (RST_STREAM) or the connection (GOAWAY) before the end of the ' +
    'response; `http2Error` has the error.',
  http_too_many_interim: 'The target sent too many interim (1xx) answers.',
  http_body_unfinished:
    'The target answered with a head, whose time is `rt`, but the body did not end in time: it may be a stream, which has no end.',
  http_decode_failed:
    'The body could not be decoded with its Content-Encoding. With `truncated` it is valid, and ends before the coding does.',
  redirect_refused: 'A redirect leads to an invalid http(s) URL, or to a target that the policy refuses.',
  redirect_loop: 'The redirects form a loop.',
  redirect_limit: 'There were more redirects than the request allows.',
  token_refused: 'The token server of a scrape’s module gave no token; the message names the reason.',
  screenshot_failed: 'The browser could not render the page within the limits of time, memory and size.',
  // The probe.
  target_refused_by_policy: 'The policy of the probe refuses the target; the message names the reason.',
  target_rate_limited:
    'The probe has reached its limit for the target’s network (its /24, or /48 of IPv6) in the last minute.',
  family_unavailable:
    'The probe has no connectivity in the required address family; with the source `resolver`, its resolver, or each name server ' +
    'of a zone, has no address of that family.',
  capability_missing: 'The probe lacks a capability of the check, such as the privilege to open raw sockets.',
  probe_offline: 'The probe was offline when the check was created.',
  probe_busy: 'The probe had no capacity for this check.',
  probe_interrupted: 'The probe restarted or stopped while it ran the check.',
  probe_suspended: 'The probe was suspended before it had answered; the message names the reason.',
  probe_removed: 'The probe was removed before it had answered.',
  probe_timeout:
    'The probe did not answer before the deadline of the check, or too little of its time was left for what the phase names.',
  invalid_job: 'The probe could not read the job; its release may be older than the coordinator’s.',
  invalid_result: 'The probe’s result violated the schema.',
  internal_error: 'An internal error of the probe.',
} as const;

export type FailureCode = keyof typeof failureCodes;

const codes = Object.keys(failureCodes) as [FailureCode, ...FailureCode[]];

export const failurePhases = ['resolve', 'connect', 'tls', 'request', 'response', 'exec', 'dispatch'] as const;
export const failureSources = ['target', 'resolver', 'network', 'probe'] as const;

export const failureSchema = Type.Object(
  {
    code: Type.Enum(codes, { description: 'What went wrong, from a closed list.' }),
    phase: Type.Enum([...failurePhases], { description: 'Phase of the check that failed.' }),
    source: Type.Enum([...failureSources], { description: 'The cause, as far as known.' }),
    message: Type.String({ maxLength: 1024, description: 'The same in a sentence, for a person.' }),
    canonicalName: Type.Optional(
      Type.String({
        maxLength: 1024,
        description:
          'With dns_nxdomain in the phase `resolve`: the name at the end of the aliases of the target, which is the one ' +
          'that does not exist. Absent if the target is no alias, and from agents of earlier releases.',
      }),
    ),
    family: Type.Optional(
      Type.Enum([4, 6], {
        description:
          'With dns_no_address in the phase `resolve`: the only address family that was asked for; the name may have addresses of ' +
          'the other one. Absent if both were asked for, and from agents of earlier releases.',
      }),
    ),
  },
  { additionalProperties: false, title: 'Failure', description: 'Why a result is not a success.' },
);

export type Failure = Static<typeof failureSchema>;
export type FailurePhase = Failure['phase'];
export type FailureSource = Failure['source'];
