import type { FindingCode, FindingSeverity } from '@vantage/contract';

import { thresholds } from './thresholds.ts';

export interface FindingRule {
  /** Possible severities, in descending order. */
  readonly severities: readonly FindingSeverity[];
  /** True if the finding changes the verdict `up` to `degraded`, unless its severity is `info`. */
  readonly degrades: boolean;
  /** Condition of the finding and of its severities. */
  readonly rule: string;
}

const t = thresholds;
function rule(severities: readonly FindingSeverity[], text: string): FindingRule {
  return { severities, degrades: false, rule: text };
}

function degrading(severities: readonly FindingSeverity[], text: string): FindingRule {
  return { severities, degrades: true, rule: text };
}

/** Rules of all findings; source of `docs/reference/findings.md`. */
export const findingRules: Readonly<Record<FindingCode, FindingRule>> = {
  down_everywhere: rule(
    ['critical'],
    'No probe that counts has an answer. With one probe the text mentions that the cause may be the probe.',
  ),
  down_country: rule(
    ['critical'],
    'Two or more probes fail, all in one country; every probe there that counts fails, and one in another country has an answer.',
  ),
  down_continent: rule(['critical'], 'The same with the continent, if the country does not explain it.'),
  down_network: rule(['critical'], 'The same with the network (AS). If country and network both hold, both are found.'),
  down_address: rule(
    ['critical'],
    'The same with the measured address: one server of several is broken. Not if a probe with an answer tried the address (http: at the same port, `deadAddresses` and each redirect included).',
  ),
  down_family: rule(
    ['critical'],
    'The same with the address family; not of probes that tried both. IPv4 through NAT64 (64:ff9b::/96, 64:ff9b:1::/48) is one of them, and of `down_address` the address behind it counts. Of redirects it is that of the host whose request failed. In a check over both also if one family fails from all probes that measured it, and those that fail measured no other; then there is no other finding `down_…`.',
  ),
  down_one_probe: rule(
    ['warning'],
    'Exactly one probe fails, and one or more have an answer. The text mentions whether one of those is in the same network or country.',
  ),
  down_some: rule(
    ['critical', 'warning'],
    'Two or more probes fail, and none of the rules above applies, or all other answers have expired (`dns_stale`). Critical if they are half of those that count or more.',
  ),
  name_not_resolved: rule(
    ['critical', 'warning', 'info'],
    'A probe fails in the phase `resolve`; not for dns checks. Critical if all that count do. If the source is not the target but the resolver, which refused, failed or was silent, it does not count: a warning if no probe counts, else info. SERVFAIL and `dns_servers_silent` count if no probe resolved the name, or if two probes or more, half of those that have either, got it. The only statement about the name does not count if the resolvers of two or more other probes failed.',
  ),
  name_resolution_slow: degrading(
    ['warning', 'info'],
    `http, each request of redirects: \`timings.dns\` above ${t.nameResolutionMs} ms. Warning if many probes see it.`,
  ),
  addresses_differ: rule(
    ['info'],
    'Not dns. Of one family, probes have different addresses: the whole set (`addresses`), or `resolvedIp` if the name has only one; not of names with more addresses than a result holds, nor a single address that other probes list with more. The text mentions if a country has two probes or more and those of one country always see the same.',
  ),
  families_differ: rule(
    ['info'],
    'Not dns. Some probes used IPv4, others IPv6; not probes that tried both. Of redirects by host at which one ended, in one finding.',
  ),
  family_broken: degrading(
    ['warning'],
    'One of both measurements is a `success` or an answer, the other is none (of ping and traceroute: is down, as a check of this family alone; not an HTTP status below 500, nor NXDOMAIN, which are answers), and its error is not of the probe, nor of its resolver (but for dns), `dns_no_address` or `family_unavailable`. The family of dns is that of the resolver or the name servers. It is laid to the target only if all see it, in two networks or more, and to the measured addresses if the name has others of the family.',
  ),
  family_absent: rule(
    ['info'],
    'A measurement has the error `dns_no_address` (of http also that of a name to which it redirects) or `family_unavailable`, or the probe could measure only the other family.',
  ),
  family_slower: rule(
    ['info'],
    'Round-trip times or phases, except the resolution, of both measurements differ by the rules for two checks, at each named probe in one direction only. `is slower` if chance does not explain it over all probes, else `took longer`. All packets of a flow (a ping is one) count as one sample, since they take one way of a load balancer.',
  ),
  family_answers_differ: degrading(
    ['warning', 'info'],
    'Status, URL, redirect, certificate, protocol, port state or records of both measurements differ by the rules for two checks, and both have the same outcome or an answer. Warning if many probes see it, or one measurement alone is a `success`; info for records that often differ between two answers (A, AAAA, CNAME, HTTPS, SVCB, signatures), and for records and certificates that other probes have over the other family.',
  ),
  family_paths_differ: rule(
    ['info'],
    'traceroute: one path crosses more networks (AS) that the other does not show than hops of that one may hide: silent ones, those of unknown networks, and an end that is not known. Not single hops of a path that is no longer than the other: the first router of a network may answer with an address of the one before.',
  ),
  dns_nxdomain_some: degrading(
    ['warning'],
    '`answerKind` is `nxdomain` for some, and `answer`, `nodata` or `alias` for others, whose answer has not expired (`dns_stale`). The text mentions if the resolvers validated the former alone.',
  ),
  dns_empty_some: degrading(['warning'], '`answerKind` is `nodata` or `alias` for some, `answer` for others.'),
  dns_rcode_differs: degrading(
    ['warning'],
    'An rcode other than NOERROR and NXDOMAIN, and a different rcode from another probe.',
  ),
  dns_unanswered: rule(
    ['warning', 'info'],
    '`answerKind` is `referral`, `lame` or `truncated`, or in a trace the addresses of the name servers could not be found, no root server that was asked gave an answer, or the trace ended before it had asked all name servers of the last zone. Without `trace` also every failure without an answer, `foreign`, `malformed`, and `error` with an rcode other than SERVFAIL and YXDOMAIN, `dns_resolver_failing`, or with SERVFAIL or `dns_servers_silent` alone or for fewer than half where others know the name (not `validation_failed`, nor an extended error of DNSSEC; a probe with an expired answer counts as one that fails): the resolver was not found, not reached, refused … And the only answer, if it is negative, without a verdict of validation and not of a trace, and two or more probes got none. Does not count; alone it gives the verdict `unknown`. Info if another probe has another result. A referral to the name itself answers the question for its NS records.',
  ),
  dns_filtered: degrading(
    ['warning'],
    'The extended DNS errors (`edns.extendedErrors`, RFC 8914) have Forged Answer (4), Blocked (15), Censored (16), Filtered (17) or Prohibited (18), and the answer has records, or would else be NXDOMAIN, NODATA, an alias alone, `lame` or SERVFAIL (`answerKind` is then `filtered`). It does not count, and alone gives the verdict `unknown`. Not REFUSED, which denies the client. One finding for each error.',
  ),
  dns_stale: degrading(
    ['warning'],
    'The extended DNS errors of an answer have Stale Answer (3) or Stale NXDOMAIN Answer (19). Agents ask a second later again, as some resolvers refresh an answer only after they have given it.',
  ),
  dns_not_public: degrading(
    ['warning', 'info'],
    'A, AAAA: all addresses of an answer are unspecified, loopback, private, shared, link-local, reserved or for benchmarks (RFC 6890), and no extended error reports a filter. Warning if another probe got other addresses; else info. Also info: all addresses are of DNS64 (64:ff9b::/96, 64:ff9b:1::/48), which then make no `dns_empty_some`.',
  ),
  dns_answers_differ: rule(
    ['warning', 'info'],
    'Two or more different sets of answers: only records of the type and the name that was asked for, or the name that its aliases lead to; order, TTL, signatures and the case of names are ignored, and so are answers that were cut and, if there are others, expired ones and those without public addresses. Info for A, AAAA, CNAME, HTTPS and SVCB, which depend on the location, and for RRSIG, NSEC and NSEC3, which may be generated per answer; else warning.',
  ),
  dnssec_failed: degrading(
    ['critical', 'warning'],
    'The verdict `validation_failed`. Warning if other resolvers answer.',
  ),
  dnssec_differs: rule(['info'], 'The verdict is `validated` for some and `not_validated` for others.'),
  reverse_name_unverified: rule(['info'], 'info: `hostnameVerified` is false.'),
  reverse_name_differs: rule(['info'], 'info: two or more reverse names of one address, whatever their case.'),
  port_closed: rule(
    ['warning', 'info'],
    'tcp, udp: the state `closed`. traceroute over tcp: the same, as information; the text and the headline name a firewall if no echo request was answered either (`echo`).',
  ),
  port_filtered: rule(['warning'], 'tcp: the state `filtered`.'),
  port_states_differ: rule(
    ['warning'],
    'tcp, udp: two or more states. `open|filtered` is none: nothing came back, as a limit of ICMP errors does to some probes.',
  ),
  udp_no_answer: rule(
    ['info'],
    'udp: the state `open|filtered`. It counts as no answer if another probe found the port open at the same address; otherwise it does not count, and alone it gives the verdict `unknown`.',
  ),
  icmp_refused: rule(
    ['info'],
    'ping, tcp, udp: an ICMP error came in answer; one finding for each message and sender.',
  ),
  handshakes_lost: degrading(
    ['warning', 'info'],
    `tcp: the state is \`open\`, and an attempt failed, not by the probe itself, or took a second or more, and ${t.sentAgainMs} ms longer than another one of the probe: a lost SYN is sent again after a second (RFC 6298). Warning from ${t.lostPackets} such attempts on, of all probes together.`,
  ),
  tls_failed: degrading(
    ['critical', 'warning'],
    'http: `tls_handshake_failed` or `tls_protocol_unsupported`. Warning if another probe made a TLS connection with the host.',
  ),
  tls_outdated: degrading(['warning'], 'http: `tls.protocol` is TLS 1.0 or 1.1, though the probe offers 1.2 and 1.3.'),
  tls_browser_refused: degrading(['warning'], 'http: `tls.chromiumRefusal`, of the last request.'),
  tls_key_exchange_weak: rule(
    ['warning'],
    `http: \`tls.keyExchange\` is DH below ${t.keyExchangeBits.finiteField} bits, or a curve below ${t.keyExchangeBits.curve}.`,
  ),
  tls_client_certificate: rule(['info'], 'http: `tls.clientCertificateRequested`.'),
  tls_slow: degrading(
    ['warning', 'info'],
    `http, each request of redirects: \`timings.tls\` above ${t.tls.connects} × \`timings.connect\` + ${t.tls.plusMs} ms. Warning if many probes see it.`,
  ),
  certificate_expired: degrading(
    ['critical', 'warning'],
    'http: `tls_expired`, as the failure, as `authorizationError` or anywhere in `tls.faults`. So are the next ones. Warning if only the clock of the service says so, by an hour or more, and no probe refuses the certificate.',
  ),
  certificate_not_yet_valid: degrading(['critical', 'warning'], 'http: `tls_not_yet_valid`. Warning as above.'),
  certificate_expires_soon: rule(
    ['warning', 'info'],
    `http: \`tls.daysLeft\` from 0 to ${t.certificateDaysLeft}. Info if 1/${t.certificateShareLeft} or more of the life of a certificate is left that is valid for less than ${t.certificateDaysLeft * t.certificateShareLeft} days in all: such ones are renewed late. Also a warning: \`tls.issuerEnds.daysLeft\` from 0 to ${t.certificateDaysLeft}: a certificate above it ends first.`,
  ),
  certificate_hostname_mismatch: degrading(['critical'], 'http: `tls_hostname_mismatch`.'),
  certificate_revoked: degrading(['critical'], 'http: `tls_revoked`.'),
  certificate_untrusted: degrading(
    ['critical'],
    'http: self-signed, unknown issuer, missing intermediate, weak key, or untrusted for another reason.',
  ),
  certificate_browser_refused: degrading(['warning'], 'http: `tls.chromiumFaults`.'),
  certificate_staple_bad: degrading(
    ['warning'],
    'http: `tls.mustStaple` without a response in `tls.ocsp`; or one that is out of date by more than a day or older than eleven, about another certificate, an error, unreadable, or with a wrong signature, or by which the responder does not know the certificate.',
  ),
  certificate_fails_on_some: degrading(
    ['warning'],
    'http: one of the six above, or no handshake, for some probes, and an authorized certificate for others, at the same host. If these were shown the same certificates, the text names no other server as the cause, but the authorities that the probes trust, or the OCSP response.',
  ),
  certificate_differs: rule(
    ['warning', 'info'],
    'http: two or more SHA-256 fingerprints of the server’s own certificate. Info if they have one issuer, by its organisation, and its name is proved for all or for none: a chain without a trusted root may name any issuer.',
  ),
  http_server_error: degrading(
    ['critical', 'warning'],
    'http: a status of 500 or above. It counts as no answer. Warning if other probes have another status.',
  ),
  http_client_error: degrading(['warning'], 'http: a status from 400 to 499. It counts as an answer.'),
  http_status_differs: degrading(['warning', 'info'], 'http: two or more statuses. Info if all are below 400.'),
  http_redirect_failed: degrading(
    ['warning'],
    'http: `redirect_loop`, which counts as no answer; `redirect_limit` and `redirect_refused`, which count as one.',
  ),
  http_hsts_loop: degrading(
    ['warning'],
    'http: `hsts` of a redirect of an https URL, of a followed redirect too, is `loop`, and the probe got no other answer at that URL. If another probe did, the text says so: servers may differ.',
  ),
  http_redirects_elsewhere: rule(
    ['info'],
    'http: the Location of a redirect (301, 302, 303, 307 or 308) names another host; a leading `www.` makes no other one. Of followed redirects if they led some of the probes with an answer to another host; if all, the headline says so.',
  ),
  http_redirects_unencrypted: rule(
    ['warning'],
    'http: the Location of a redirect of an https URL, of a followed redirect too, is an http URL. It does not degrade: browsers follow it, or ask https if `hsts` is `upgraded`. Not if `hsts` is `loop`. That a browser knows the demand of an earlier visit, or is delivered with it (preload), is not examined.',
  ),
  http_redirects_differ: rule(
    ['info'],
    'http: two or more places, absolute and without query; of followed redirects those of the last requests.',
  ),
  address_dead: degrading(
    ['warning', 'info'],
    'http: `deadAddresses` is not empty, and there was a connection with another address of the name. If other probes got a connection with the address and its port, redirects included, warning if many probes got none. It is laid to the address if no probe got one and probes of two networks tried; else it is info if they are fewer than half of those with a connection.',
  ),
  http_body_unfinished: degrading(
    ['warning'],
    'http: `http_body_unfinished`, or `http_decode_failed` with `truncated`: the body ends before its content coding does. It counts as an answer, unless the status is 500 or above. One finding for each.',
  ),
  http_browser_refused: degrading(
    ['warning'],
    'http: `deviations` of the answer, or of a redirect, has `location_differs` or `content_disposition_differs`.',
  ),
  http_deviates: rule(
    ['warning'],
    'http: `deviations` of the answer, or of a redirect, has others than those of `http_browser_refused`. The text has the clause of each. It does not degrade: browsers show the page.',
  ),
  http_server_slow: degrading(
    ['warning', 'info'],
    `http, each request of redirects: \`timings.firstByte\`, to the end of the head if that comes later (after early hints), above ${t.firstByte.connects} × \`timings.connect\` + ${t.firstByte.plusMs} ms. Warning if many probes see it.`,
  ),
  browser_page_failed: degrading(
    ['warning'],
    'http: the screenshot was given up because the browser refuses what the server sends (no common TLS, if `tls` of that probe has a version before 1.2 or `chromiumRefusal`; a certificate, HTTP or a coding that it cannot read, redirects without an end), and the target is up for the probe of that browser. Not for reasons of time or connection (an HTTP/2 stream that the target ended, and a failed handshake without a cause, too), nor dates, which are by the clock of the probe, nor an unknown issuer, since the browser does not trust `CA_FILE`, nor in a check with `headers` or `family`, or another `method` or `httpVersion` than the default, without which the browser asks.',
  ),
  screenshot_incomplete: rule(['info'], 'http: a screenshot was taken, and `cutAt` names a limit.'),
  screenshot_missing: rule(
    ['info'],
    'http: a screenshot was asked for and given up, for a reason that is no `browser_page_failed`.',
  ),
  packet_loss: degrading(
    ['warning', 'info'],
    `ping: a probe has replies and lost packets, or none, if chance or a limit explains that by the losses of others. Warning from ${t.lostPackets} lost packets on, of all probes together, also where the target may limit its answers to pings: the few packets of a ping do not tell. Also a warning if all packets of a \`size\` or \`dscp\` got no answer, or were refused, and ordinary pings after them were answered (\`ordinary\`): the target is up, which makes it \`degraded\` and not \`down\`.`,
  ),
  jitter_high: degrading(
    ['warning', 'info'],
    `ping: \`jitter\` above ${t.jitter.minMs} ms and above ${t.jitter.shareOfMean * 100} % of \`rttAvg\`, with ${t.jitter.minReplies} replies or more, and so without the reply that is farthest from the median: one slow packet is no jitter. Warning if many probes see it.`,
  ),
  replies_odd: rule(
    ['warning', 'info'],
    'ping: duplicate, late, reordered or corrupted replies, or answers from another address than the measured one; traceroute: `answeredFrom`. Warning if some are corrupted, or if all were late or corrupted: the target is up, which makes it `degraded` and not `down`.',
  ),
  latency_outlier: rule(
    ['warning', 'info'],
    `ping, tcp, http (\`timings.connect\`), traceroute, with ${t.outlier.minProbes} round trips or more: the shortest round trip of a probe, less ${t.outlier.stretch} × the least that its distance to the target allows, is above ${t.outlier.times} × the median of the others and above the median + ${t.outlier.plusMs} ms. If the location of the target is not known, or some probe is faster than it allows, the target is taken to be where the fastest probe of the address is, that probe’s round trip is taken off too, and it is info; so it is for a probe whose own place is not known, of which nothing is taken off.`,
  ),
  place_contradicted: rule(
    ['info'],
    `The same round trips, to one address: those of two probes together are shorter than the round trip of light between the places of the two, at two thirds of its speed in vacuum and with ${t.placeErrorKm} km for the size of cities. A proxy on the way may have taken the connections (tcp, http), or another device answered pings, too.`,
  ),
  direction_fails: rule(
    ['warning'],
    'traceroute `between` two probes: the result of one is down, that of the other up. In place of `down_one_probe`.',
  ),
  directions_differ: rule(
    ['info'],
    'traceroute `between`: a network (AS), not that of an end, is on two hops or more of one direction and on none of the other, and on more than hops of the other that are unknown; or, without such a network, two hops or more of one direction (not the first), and more than unknown ones, have no address of the other in their /24 (IPv6: /64); or the numbers of hops differ by two or more, for all flows, without those before the first known router, which a NAT may hide from the other side. All hops of a trace that does not reach the other probe count as unknown. If all routers of the shorter direction are near those of the other, the ways “seem to differ”: a tunnel may hide hops. So they do if only addresses of routers show it: a router may answer from any of its addresses.',
  ),
  directions_alike: rule(
    ['info'],
    'traceroute `between`: as many hops in both directions, all of them known, and for each router but the first of a direction an address of the other in its /30 (IPv6: /126).',
  ),
  direction_slower: rule(
    ['info'],
    'traceroute `between`: round trips differ by the rule for two checks, or losses at the ends by Fisher’s exact test at 1 %.',
  ),
  routing_loop: degrading(
    ['critical', 'warning'],
    'traceroute: `loop` is not null; the text calls a single router that answers for all hops no circle, since something before it may set the TTL. Or with `rounds`: in some of them two routers or more answered at the hop of the target and beyond, twice in the same order, or one there and at the next four hops, although the target answered in others; a warning if it answered again after them. Such a trace has neither `path_lengths` nor `path_changed`.',
  ),
  target_stops: degrading(
    ['warning'],
    `traceroute, \`rounds\`: the target answered, but no packet of the last rounds. From ${t.outage.refused} such rounds on if a router sent an ICMP error other than time exceeded in them. Else from ${t.outage.silent} on, if each earlier silence is at most a third as long, and the probability that of all lost packets so many are the last is ${t.outage.byChance * 100} % at most or they are ${t.outage.long} or more. Not if a limit of answers explains it: the target answered other probes meanwhile and leaves half of their packets unanswered, or it answers some only of the packets that follow the rounds (\`spaced\`). Without such an error the text names a block or a limit as possible causes, or, if no hop answered in these rounds, a fault near the probe. Answers of routers at the hop of the target are none of it: they count if at least ${t.outage.silent} packets to the hop behind the last router got none. In place of \`path_loss\`, \`loss_at_target\` and \`rate_limited_hop\`.`,
  ),
  target_pauses: degrading(
    ['warning'],
    `traceroute, \`rounds\`: ${t.outage.silent} rounds in a row or more without an answer of the target, with answers in later ones, and in two before or in none and to none of the packets with the full TTL, and no ICMP error. The silence is three times as long as any other, and chance does not explain at ${t.outage.byChance * 100} % that of all lost packets so many are in a row. Not if a limit of answers explains it: the target answered other probes meanwhile and leaves half of their packets unanswered, or it answers some only of the packets that follow the rounds (\`spaced\`). If no hop answered meanwhile, the text says that the fault may be near the probe. Other loss is found as if these rounds had not been.`,
  ),
  path_refused: degrading(
    ['warning', 'info'],
    `traceroute: an ICMP error other than time exceeded ended the path, or came for ${t.lostPackets} packets or more that were sent far enough for a target that answered others, or for as many of flows that never got an answer of the target while others did, or in the rounds before the first answer of the target. It makes the target \`degraded\` and not \`down\` if it answers echo requests of the probe (\`echo\`, \`ordinary\`). Info for less, and for packets whose requested \`size\` is too big for the path. One finding for each network of the sender and error.`,
  ),
  path_stops: rule(
    ['warning'],
    'traceroute: not reached, no loop, no such error; the hops beyond the last answer were asked and are silent, and so is the target when it is asked with the full TTL, six times in six seconds, and by the echo requests sent with the trace; it answered no other trace of the probe with the same protocol and port meanwhile. One finding for each network of the last hop that answered; the text mentions if that is the target’s network.',
  ),
  path_cut: degrading(
    ['warning', 'info'],
    `traceroute: the last hop that \`maxHops\` allowed answered and was not the target, or time ran out, or the target answers the full TTL alone, or it answers the echo requests sent with the trace (\`echo\`) and none of its packets, which makes it \`degraded\` and not \`down\`; if its \`size\` is at least \`mtuBlackHole\`, the text names that as the cause; so it does with the \`size\` and \`dscp\` if the target answers ordinary echo requests alone (\`ordinary\`). Info if the target answers the trace, if time ran out before it was asked with the full TTL five times, or if it leaves half of the packets of the probes that reach it unanswered (then it is \`up\`, if it answered echo requests) or answered another trace of the probe meanwhile (\`fullTtl.answersOthers\`): such silence does not count. A warning all the same, which names the last router, if the trace passed a router that leads others to the target, went on by another one, and was not answered at two hops or more before the target’s, at which routers left no more than ${t.sharedLoss * 100} % of the packets of others unanswered, five packets or more each: no limit of the target explains that.`,
  ),
  flows_stop: degrading(
    ['warning'],
    `traceroute with several flows: some reach the target; another one ends, and the last router that answered it is on the path of none that does. Its packets beyond that router were all lost, to hops that answer other flows, and chance explains that in no more than ${t.beginByChance * 100} % of cases (Fisher’s exact test), for the packets of the flow or for those of all flows that end there, with a correction for the routers of that hop; the target’s own hop is left out over udp and where it may limit its answers. Or that router refused its packets with an ICMP error. Routers with hidden addresses are compared at the same hop only, and one that refuses packets is named without a hop. With \`flows: "all"\`: a way of a balancer proved to choose by flow is \`broken\`, none of its packets got an answer from beyond, and chance explains that in no more than ${t.beginByChance * 100} % of cases for all flows of the balancer, given the packets of other ways; or a router refused the packets of a way and none that reached the target passed it. Or flows are silent beyond a router that leads others to the target (a way without own routers, or a filter by ports): ${t.cutFlows.full} packets with the full TTL or more for each, seconds apart, all got no answer, and chance explains all losses of so many of the flows in no more than ${t.beginByChance * 100} % of cases, given those of the other flows. The target must have answered ${t.cutFlows.answeredLater} packets or more after one of these flows, up to its last ${t.cutFlows.lostLast + 1}: a limit that is used up answers the first packets alone; and of the packets of the other flows it left no more than ${t.sharedLoss * 100} % unanswered. This proves the silence of all of these flows, where routers limit their answers too: a router that answered none of the other flows ends a way if another one of its hop did, and flows of which less was seen there are counted separately. Or the packets of a flow that does not reach the target go round in a circle: two routers or more answered it twice in the same order, none of them at several hops of the flows that reach the target. Behind a balancer whose address is hidden, an error of a hidden sender is none, unless another router of the way answers: the balancer itself may refuse some packets.`,
  ),
  path_loss: degrading(
    ['warning'],
    `traceroute: the target’s hop lost packets, and so did each hop before it that answers at all, back to the one where it begins: two hops at least. The hop is named alone if the one before it proves to lose nothing, else with the last that does: chance explains the difference, of all paths that met the router, in no more than ${t.beginByChance * 100} % of cases (Fisher’s exact test). Paths over one link begin to lose together. If several routers answer at the hop or at the one before it, none is named. Only flows that reach the target count. A target that may merely limit its answers, and the routers before it theirs, is \`loss_at_target\`: packets in groups after the trace (\`spaced\`) must prove loss to the target, from one of the probes of the finding, and loss must explain the order of all these answers ${t.lossOverLimit} times better than token buckets do (ratio of likelihoods, all probes together). So must it explain the order and the number of the answers of the routers alone, as many missing as at the target; and none of them, back to one without loss to any probe, may have left more packets unanswered than the target and its groups did, nor several those of the same moments, at ${t.beginByChance * 100} % (Fisher’s exact test). Last, the place is widened until loss that begins elsewhere on the path, behind routers that limit their answers, has a probability of ${t.beginElsewhere * 100} % at most, with the packets of up to 16 paths to the target; if no stretch before the target is so probable, it is \`loss_at_target\`. One finding for each network in which it begins.`,
  ),
  loss_at_target: degrading(
    ['warning', 'info'],
    `traceroute: the target’s hop lost packets, and no \`path_loss\` is proved. Warning if the packets in groups that follow the trace (\`spaced\`) prove loss: in ${t.spaced.groups} groups or more a packet got no answer and a later one of the group did, which no limit of few answers a second does, and packets of a group do not overtake each other; or ${t.lostPackets} or more of these packets to an open port of tcp, of all probes together, got no answer, unless the first SYNs of the flows of the traces got so many fewer that chance explains it in ${t.beginByChance * 100} % of cases at most. Of groups the text counts the packets that no limit explains, those with a later answer in their group. Else info: loss, or a limit of the target’s answers, which several probes and strangers may share. The text then has how many of the packets in groups it answered, and from which hop on answers are missing too.`,
  ),
  rate_limited_hop: rule(
    ['info'],
    `traceroute: a hop lost packets, and all later ones up to the target’s together so many fewer that chance explains it in no more than ${t.lossByChance * 100} % of cases (Fisher’s exact test); if the target’s hop of some path lost packets, in no more than ${t.beginByChance * 100} % for all hops with loss together. Not of a search for all paths over a per-packet balancer.`,
  ),
  path_mtu_black_hole: degrading(
    ['warning', 'info'],
    'traceroute: `mtuBlackHole` is not null, or `fullSize.arrives` is false. A router that silently drops large packets, there or on the way back of the answers, and a filter that drops large pings look the same from outside: info if the trace reached the target with packets of that `size`, or in `fullSize`. The text is certain if packets of both kinds vanish. Info if large SYNs vanish alone.',
  ),
  path_mtu_small: rule(
    ['warning', 'info'],
    `traceroute: \`pathMtu\` below ${t.mtu.ordinary}, as a router or the probe’s own link reports; not if larger packets only vanish (\`mtuBlackHole\` is one byte more). Warning below ${t.mtu.ipv6Minimum}, the least that IPv6 takes, unless the trace reached the target with larger packets (\`size\`, \`fullSize\`).`,
  ),
  dscp_changed: rule(
    ['info'],
    'traceroute: from a hop on, two or more hops that quote packets (`quotedDscp`), all those to the last, have one other value than was sent. Hops whose replies disagree do not count. The router there may have changed it on arrival, or the one before it on sending.',
  ),
  path_translated: rule(
    ['info'],
    'traceroute: the same with `rewritten`: two or more hops, all that quote to the last one, have the same fields that are not as they were sent. For TCP not the checksum alone, which a router changes with the maximum segment size too. An address translation that restores quotations, as Linux’ does, cannot be seen.',
  ),
  hidden_tunnel: rule(
    ['info'],
    'traceroute: two or more successive hops without `mpls` whose time exceeded errors quote a TTL of 2, 3, 4 …: one more at each.',
  ),
  path_lengths: rule(
    ['info'],
    'traceroute, `rounds`: `targetHops` has two hops or more, and the order of the answers does not prove that the path changed: packets may take ways of different length. Loss in such a trace is laid to no hop before the target’s.',
  ),
  path_changed: rule(
    ['info'],
    `traceroute, \`rounds\`: two hops or more, with none between them that kept its address, answered from one address in the first rounds and from another one in all later ones, or the target moved once to another hop. All such hops agree on the round, and the probability of this order of answers behind a balancer by packet is 2^-${t.pathChangeBits} at most, whatever its shares. A short check, or a change in its first or last rounds, does not suffice. Loss in such a trace is laid to no hop before the target’s.`,
  ),
  hop_changed: rule(
    ['info'],
    'traceroute, `rounds`: as `path_changed`, of one hop, or of hops with one between them that kept its address, while the target stayed at its hop. Many routers answer from the address of the interface by which the error leaves, so a change of the way back alone looks the same. Loss in such a trace is laid to no hop before the target’s.',
  ),
  way_back_differs: rule(
    ['info'],
    `traceroute: the hops of the way back, guessed from the TTL of replies (the next of 64, 128 and 255 less it), and those there differ by ${t.wayBack.minHops} or more for the target, and for the last router before it that answers within ${t.wayBack.spread} as much. Who sends with another TTL, or changes it, is guessed wrongly.`,
  ),
  target_refused: rule(
    ['warning', 'info'],
    '`target_refused_by_policy`. Does not count; info if any probe counts. So are the next ones.',
  ),
  packets_unfit: rule(
    ['warning', 'info'],
    'ping, and traceroute with `size`: `packet_too_big`; ping: also `time_exceeded` if the request asked for a TTL below 64, unless the TTL of the error shows that its sender is so near that the packets went in a circle: no answer of the target’s. So does silence to such a TTL, if ordinary pings after it were answered (`ordinary`).',
  ),
  probes_incapable: rule(['warning', 'info'], '`family_unavailable`, `capability_missing`.'),
  probes_older: rule(
    ['info'],
    'traceroute: results have hops and no `rounds` (`multipath`, `firstHop`, `size`, `dscp`, `sourcePort`) while others have it: their agents ignore the option and traced once (some flows; with their own values). ping: no `dscp` while others have it. Any type: no `otherFamily` while others have it. They count.',
  ),
  probes_offline: rule(['warning', 'info'], '`probe_offline`.'),
  probe_stalled: rule(
    ['info'],
    'Any result with `stalled`. traceroute, ping: unanswered packets of that time are left out (`roundsLeftOut`, `packetsLeftOut`), and so are, without `stalled`, those of a time in which the probe had no route, or no next hop that answers, before later ones were answered. Other types: their times make no finding (slow, outlier, another time in a comparison), and their silence is `probe_interrupted`.',
  ),
  probes_unanswered: rule(
    ['warning', 'info'],
    '`probe_timeout`, `probe_busy`, `probe_interrupted`, `probe_suspended`, `probe_removed`, `target_rate_limited`.',
  ),
  probes_faulty: rule(
    ['warning', 'info'],
    'Every other result `error`, and every failure whose source is the probe; http: `tls_expired` or `tls_not_yet_valid` of certificates that are valid at `finishedAt`, by the clock of the service: that of the probe is wrong. Also a `success` with a certificate that is out of date by an hour or more, except with `insecureSSL`.',
  ),
};
