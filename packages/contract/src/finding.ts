/** In descending order. */
export const findingSeverities = ['critical', 'warning', 'info'] as const;

export type FindingSeverity = (typeof findingSeverities)[number];

/**
 * All finding codes with their meaning; a closed list. `docs/reference/findings.md` has the rules. Findings of equal
 * severity are listed in this order.
 */
export const findingCodes = {
  // Scope of the failure.
  down_everywhere: 'No probe that could measure had an answer.',
  down_country: 'All failing probes are in one country, and no probe in it has an answer.',
  down_continent: 'All failing probes are on one continent, and no probe on it has an answer.',
  down_network: 'All failing probes are in one network (AS), and no probe in it has an answer.',
  down_address: 'All failing probes asked one address of the host, and no probe has an answer from it.',
  down_family: 'IPv6 fails where IPv4 works, or the other way round.',
  down_one_probe: 'One probe alone fails.',
  down_some: 'Some probes fail; no place, network or address tells them from the others.',
  // Names.
  name_not_resolved: 'The name could not be resolved, so that nothing was measured of the host.',
  name_resolution_slow: 'The resolution of the name took long.',
  addresses_differ: 'Probes were given different addresses of the host.',
  families_differ: 'Some probes used IPv4, others IPv6.',
  dns_nxdomain_some: 'The name does not exist for some probes, and exists for others.',
  dns_empty_some: 'Some probes were told that there are no records of this type; others got some.',
  dns_rcode_differs: 'The answers have different rcodes.',
  dns_unanswered:
    'The server that was asked could not be reached, or did not answer the question, which proves nothing about the name.',
  dns_filtered: 'A resolver says that a filter made its answer, which then is no fact about the name.',
  dns_answers_differ: 'Probes got different answers.',
  dnssec_failed: 'The answer fails the validation of DNSSEC.',
  dnssec_differs: 'Some resolvers validated the answer, others did not.',
  reverse_name_unverified: 'The reverse name of the address does not lead back to it.',
  reverse_name_differs: 'Probes got different reverse names of one address.',
  // Connections and TLS.
  port_closed: 'The host answers, and nothing listens on the port.',
  port_filtered: 'Nothing, or a filter alone, answers for the port.',
  port_states_differ: 'The port is not in the same state for all probes.',
  udp_no_answer: 'Nothing came back from the UDP port, which proves neither that it is open nor that it is closed.',
  icmp_refused: 'An ICMP error came in answer, and this is who sent it.',
  handshakes_lost: 'Some handshakes of probes that reach the port failed.',
  tls_failed: 'The TLS handshake failed.',
  tls_outdated: 'The server speaks no version of TLS that browsers still take.',
  tls_key_exchange_weak: 'The keys of the connection were agreed in a group that is too weak.',
  tls_client_certificate: 'The server asks for a certificate of the client.',
  tls_slow: 'The TLS handshake took long in relation to the TCP handshake.',
  certificate_expired: 'The certificate has expired.',
  certificate_not_yet_valid: 'The certificate is not valid yet.',
  certificate_expires_soon: 'The certificate expires within 14 days, or sooner if it was made for a short time.',
  certificate_hostname_mismatch: 'The certificate is not for the host.',
  certificate_revoked: 'The certificate is revoked.',
  certificate_untrusted: 'The certificate is not trusted.',
  certificate_browser_refused: 'Chromium refuses the certificate, and OpenSSL accepts it.',
  certificate_staple_bad:
    'The stapled OCSP response is missing or bad, for which some browsers refuse the certificate.',
  certificate_fails_on_some: 'The certificate is refused by some probes and accepted by others.',
  certificate_differs: 'Probes were shown different certificates.',
  // HTTP.
  http_server_error: 'The target answered with a 5xx status.',
  http_client_error: 'The target answered with a 4xx status.',
  http_status_differs: 'The target answered with different statuses.',
  http_redirect_failed: 'Redirects lead in a circle, too far, or to where no probe may go.',
  http_redirects_elsewhere: 'The target redirects to another host.',
  http_redirects_differ: 'The target redirects probes to different places.',
  address_dead: 'An address of the name takes no connections, and another does.',
  http_deviates: 'The answer breaks a rule of HTTP that browsers do not insist on.',
  http_server_slow: 'The target took long to begin its answer.',
  screenshot_incomplete: 'The page went over a limit of screenshots, and is shown without what is beyond it.',
  screenshot_missing: 'There is no screenshot, and this is why.',
  // Times and losses.
  packet_loss: 'Packets were lost.',
  jitter_high: 'The round-trip times vary much.',
  replies_odd: 'Replies came twice, late, out of order or damaged.',
  latency_outlier: 'The latency of a probe is far from that of the others, more than its distance explains.',
  place_contradicted: 'Round-trip times are shorter than light takes between the stated places of two probes.',
  // Paths.
  routing_loop: 'Packets go round in a circle.',
  path_refused: 'A router said that the packets go no further.',
  path_stops: 'Nothing answers beyond a hop.',
  path_cut: 'The trace ended before the path did, by its hop limit, for want of time, or unanswered in its protocol.',
  flows_stop: 'Some flows end on the way, others reach the target: one of several parallel paths is broken.',
  path_loss: 'Loss begins at one hop and carries on to the target.',
  loss_at_target: 'Packets are lost at the target’s own hop alone.',
  rate_limited_hop: 'A router does not answer every packet; the hops beyond it do.',
  path_mtu_black_hole: 'Large packets vanish without a word, small ones are answered.',
  path_mtu_small: 'The path carries packets of less than 1,500 bytes only.',
  // Probes excluded from the verdict.
  target_refused: 'The policy of these probes refuses the target.',
  packets_unfit:
    'Packets of the TTL or the size that was asked for ended on the way, so that the target was not asked.',
  probes_incapable: 'These probes lack what the check needs.',
  probes_offline: 'These probes were offline.',
  probes_unanswered: 'These probes did not answer in time, were too busy, or were interrupted.',
  probes_faulty: 'These probes failed by a fault of their own.',
} as const;

export type FindingCode = keyof typeof findingCodes;
