/** Severities of findings, in descending order. */
export const findingSeverities = ['critical', 'warning', 'info'] as const;

export type FindingSeverity = (typeof findingSeverities)[number];

/**
 * All finding codes with their meaning; a closed list. `docs/reference/findings.md` has the rules. Findings of equal
 * severity are listed in this order.
 */
export const findingCodes = {
  // Scope of the failure.
  down_everywhere: 'No probe that could measure got an answer.',
  down_country: 'All failing probes are in one country, and no probe in it has an answer.',
  down_continent: 'All failing probes are on one continent, and no probe on it has an answer.',
  down_network: 'All failing probes are in one network (AS), and no probe in it has an answer.',
  down_address: 'All failing probes asked one address of the host, and no probe has an answer from it.',
  down_family: 'One address family fails while the other one works.',
  down_one_probe: 'One probe alone fails.',
  down_some: 'Some probes fail; no location, network or address distinguishes them from the others.',
  // Name resolution.
  name_not_resolved: 'The name could not be resolved, so the host was not measured.',
  name_resolution_slow: 'Name resolution was slow.',
  addresses_differ: 'Probes resolved different addresses of the host.',
  families_differ: 'Some probes used IPv4, others IPv6.',
  family_broken: 'One address family fails from probes from which the other works, in a check over both.',
  family_absent: 'The name or a probe has only one address family, in a check over both.',
  family_slower: 'Over one address family it took longer than over the other, in a check over both.',
  family_answers_differ: 'The target answers differently over IPv4 and IPv6, in a check over both.',
  family_paths_differ: 'IPv4 and IPv6 take different networks, in a check over both.',
  dns_nxdomain_some: 'The name does not exist for some probes, and exists for others.',
  dns_empty_some: 'Some probes got no records of this type; others got some.',
  dns_rcode_differs: 'The answers have different rcodes.',
  dns_unanswered:
    'The server could not be reached, or did not answer the question; this proves nothing about the name.',
  dns_filtered: 'A resolver reports that a filter generated its answer, which proves nothing about the name.',
  dns_stale: 'A resolver gives an answer that has expired, because it could not refresh it.',
  dns_not_public: 'Answers have no public address of the name.',
  dns_answers_differ: 'Probes got different answers.',
  dnssec_failed: 'DNSSEC validation of the answer fails.',
  dnssec_differs: 'Some resolvers validated the answer, others did not.',
  reverse_name_unverified: 'The reverse name of the address does not resolve to it.',
  reverse_name_differs: 'Probes got different reverse names of one address.',
  // Connections and TLS.
  port_closed: 'The host, or a firewall in its name, answers that nothing listens on the port.',
  port_filtered: 'The port does not answer in time, or only a filter does.',
  port_states_differ: 'The probes do not see the port in the same state.',
  udp_no_answer: 'The UDP port did not reply, which proves neither that it is open nor that it is closed.',
  icmp_refused: 'An ICMP error arrived in reply; the finding names its sender.',
  handshakes_lost: 'Some handshakes of probes that reach the port failed, or lost a packet that was sent again.',
  tls_failed: 'The TLS handshake failed.',
  tls_outdated: 'The server supports no TLS version that browsers still accept.',
  tls_browser_refused: 'Chromium agrees with the server on no TLS connection, and the check does.',
  tls_key_exchange_weak: 'The key exchange used a weak group.',
  tls_client_certificate: 'The server requests a client certificate.',
  tls_slow: 'The TLS handshake was slow compared with the TCP handshake.',
  certificate_expired: 'The certificate has expired.',
  certificate_not_yet_valid: 'The certificate is not valid yet.',
  certificate_expires_soon: 'The certificate expires within 14 days; it is a warning only when its renewal is due.',
  certificate_hostname_mismatch: 'The certificate is not for the host.',
  certificate_revoked: 'The certificate is revoked.',
  certificate_untrusted: 'The certificate is not trusted.',
  certificate_browser_refused: 'Chromium refuses the certificate, and OpenSSL accepts it.',
  certificate_staple_bad: 'The stapled OCSP response is missing or bad, so some browsers may refuse the certificate.',
  certificate_fails_on_some: 'The certificate is refused by some probes and accepted by others.',
  certificate_differs: 'Probes got different certificates.',
  // HTTP.
  http_server_error: 'The target answered with a 5xx status.',
  http_client_error: 'The target answered with a 4xx status.',
  http_status_differs: 'The target answered with different statuses.',
  http_redirect_failed: 'Redirects form a loop, exceed the limit, or lead to a refused target.',
  http_hsts_loop: 'A redirect leads from https to http, and Strict-Transport-Security makes it a loop for browsers.',
  http_redirects_elsewhere: 'Redirects lead to another host.',
  http_redirects_unencrypted: 'A redirect leads from https to http, which is not encrypted.',
  http_redirects_differ: 'Redirects lead probes to different places.',
  address_dead: 'An address of the name takes no connections, and another does.',
  http_body_unfinished:
    'The target answered, but the body of its answer did not end in time, or ends before its content coding does.',
  http_browser_refused: 'Browsers refuse the response, because it has headers that differ, and the check reads it.',
  http_deviates: 'The response violates a rule of HTTP that browsers do not enforce.',
  http_server_slow: 'The target was slow to start its response.',
  browser_page_failed: 'A browser could not open the page, although the check got an answer.',
  screenshot_incomplete: 'The page exceeded a limit of screenshots and is shown incompletely.',
  screenshot_missing: 'There is no screenshot; the text has the reason.',
  // Times and losses.
  packet_loss: 'Packets of a ping got no answer.',
  jitter_high: 'The round-trip times vary strongly.',
  replies_odd: 'Replies arrived twice, late, out of order, damaged or from another address.',
  latency_outlier: 'The latency of a probe exceeds that of the others by more than its distance explains.',
  place_contradicted: 'Round-trip times are shorter than light needs between the recorded locations of two probes.',
  // Two probes that trace to each other.
  direction_fails: 'One of two probes reaches the other and is not reached by it.',
  directions_differ: 'The ways of two probes to each other differ.',
  directions_alike: 'Nothing tells the ways of two probes to each other apart.',
  direction_slower: 'Two probes measured different round trips or losses to each other.',
  // Paths.
  routing_loop: 'Packets loop, or one router answers for all hops.',
  target_stops: 'The target stopped answering during the rounds of a trace.',
  target_pauses: 'The target was silent for some rounds of a trace, and answered later.',
  path_refused: 'A router refused to forward the packets.',
  path_stops: 'Nothing answers beyond a hop.',
  path_cut: 'The trace ended before the path did: hop limit, time limit, or a protocol that the target ignores.',
  flows_stop:
    'Some flows end on the path, others reach the target: one of several parallel paths is broken, or a filter drops them.',
  path_loss: 'Loss begins at one hop and continues to the target.',
  loss_at_target: 'Packets to the target are lost, or it limits its answers.',
  rate_limited_hop: 'Answers of a router are missing, and fewer of the hops beyond it.',
  path_mtu_black_hole: 'Large packets vanish without an ICMP error, small ones are answered.',
  path_mtu_small: 'The path MTU is below 1,500 bytes.',
  dscp_changed: 'Routers change the DSCP of the packets.',
  path_translated: 'Addresses of the packets are translated on the path (NAT).',
  hidden_tunnel: 'Routers quote TTLs as those of a tunnel do that shows no labels.',
  path_lengths: 'The target answered at several hops during the rounds of a trace.',
  path_changed: 'The path changed between two rounds of a trace.',
  hop_changed: 'A hop answered from another address from one round of a trace on: another router, or the same one.',
  way_back_differs: 'Replies seem to come back over more or fewer hops than the packets take.',
  // Probes excluded from the verdict.
  target_refused: 'The policy of these probes refuses the target, or the server of a dns check.',
  packets_unfit: 'Packets with the requested TTL or size did not reach the target, so it was not measured.',
  probes_incapable: 'These probes lack a capability of the check.',
  probes_older: 'Agents of an earlier release measured without an option that others measured with.',
  probes_offline: 'These probes were offline.',
  probe_stalled:
    'These probes stood still for a second or more, or for much of the measured time, or packets did not leave them: times or silence meanwhile are their own.',
  probes_unanswered: 'These probes did not answer in time, were too busy, or were interrupted, suspended or removed.',
  probes_faulty: 'These probes had an internal error.',
} as const;

export type FindingCode = keyof typeof findingCodes;
