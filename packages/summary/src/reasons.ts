import { failureCodes, type Failure, type FailureCode } from '@vantage/contract';

import { isCutOff } from './cut-off.ts';
import { saidReason } from './disputed.ts';
import { isRootSilent, isUnanswered, classifiedAnswer } from './dns-answer.ts';
import { dnsReason } from './dns-reason.ts';
import { isUnfit, silentTtl } from './unanswered-pings.ts';
import { listed, safeText } from './words.ts';
import { isDecidedByClock, isDated } from './clock.ts';
import { outOfTimeReason } from './out-of-time.ts';
import { ofRoot, ofZone } from './trace-reason.ts';
import {
  handshakePhrases,
  http2Reason,
  interruptedPhrases,
  phrases,
  probesPhrases,
  unfinishedPhrases,
  unmatchedPhrases,
} from './phrases.ts';
import { groupBy, type ProbeResult, type SparseResultOf } from './probe-result.ts';
import { familyOfRedirect, leadsToNoPage, redirectedHost, redirectPlace } from './redirected.ts';
import { isBodyUnfinished, isCodingCut } from './unfinished.ts';

/** Reason of one probe's failure, with details such as the HTTP status or rcode. */
export function reasonOf(probeResult: ProbeResult): string {
  const result = probeResult.result as SparseResultOf<'dns'>;
  const reason = resolverReason(result) ?? withPlace(reasonOfAny(probeResult), probeResult.result);
  if (probeResult.isDisputed === true) return saidReason(reason, result.trace !== undefined);
  // A trace does not use the resolver.
  if (isRootSilent(result)) return ofRoot(reason);
  if (result.trace !== undefined) return ofZone(reason, result);
  const { recordType, resolver } = result;
  const isResolvers = recordType !== undefined && typeof resolver === 'string' && isUnanswered(result);
  return isResolvers ? reason.replace(/\bthe resolver\b/, () => `the resolver ${safeText(resolver)}`) : reason;
}

/** Failures of the redirects themselves, which say nothing about the place that they lead to. */
const ofRedirects: ReadonlySet<string> = new Set(['redirect_refused', 'redirect_loop', 'redirect_limit']);

/** The reason with the place to which redirects led, if that is another origin. */
function withPlace(reason: string, result: SparseResultOf<'http'>): string {
  const host = redirectedHost(result);
  const { error } = result;
  if (host === undefined || ofRedirects.has(error?.code ?? '')) return reason;
  if (error?.phase !== 'resolve') return `${reason}${redirectPlace(result)}`;
  const family = familyOfRedirect(result);
  if (family !== undefined) return `${host}, to which it redirects, is an ${family} address`;
  const named = reason.replace(/^the name\b/, () => `the name ${host}, to which it redirects,`);
  return named === reason ? `${reason} for ${host}, to which it redirects` : named;
}

/**
 * Reason why the resolver of a dns check sent no readable response, or a name server of a trace none in time. Undefined
 * for other types, if a response came, and if the probe failed or the server’s name was not resolved.
 */
function resolverReason(result: SparseResultOf<'dns'>): string | undefined {
  const { recordType, trace, error } = result;
  if (recordType === undefined || error === null || error === undefined || error.source === 'probe') return undefined;
  if (trace !== undefined && error.code !== 'timed_out') return undefined;
  if (error.phase === 'resolve' || classifiedAnswer(result) !== undefined) return undefined;
  if (error.code === 'dns_resolver_unreachable') return phrases.dns_resolver_unreachable;
  if (error.code === 'dns_servers_silent') return phrases.dns_servers_silent;
  if (error.code === 'timed_out') return 'the resolver did not answer in time';
  if (error.code === 'dns_bad_response') return 'the answer of the resolver was no valid DNS message';
  return Object.hasOwn(phrases, error.code) ? `the resolver did not answer: ${phrases[error.code]}` : undefined;
}

function reasonOfAny(probeResult: ProbeResult): string {
  const { error, statusCode, url, http2Error, rcode, ttl, size, sourcePort, dialogue } =
    probeResult.result as SparseResultOf<'http'> &
      Pick<SparseResultOf<'dns'>, 'rcode'> &
      Pick<SparseResultOf<'tcp'>, 'dialogue'> &
      Pick<SparseResultOf<'traceroute'>, 'sourcePort'> &
      Pick<SparseResultOf<'ping'>, 'ttl' | 'size'>;
  const code = error?.code;
  if (isDecidedByClock(probeResult))
    return code === undefined
      ? 'the probe accepts a certificate that is out of date by the clock of the service'
      : 'the clock of the probe is wrong';
  const dns = dnsReason(probeResult.result);
  if (dns !== undefined) return dns;
  if (code === undefined || !Object.hasOwn(failureCodes, code)) return phrases.timed_out;
  if (code === 'probe_busy' && sourcePort !== undefined) return `the source port ${sourcePort} was in use at the probe`;
  const unresolved = outOfTimeReason(error) ?? (error?.phase === 'resolve' ? resolutionReason(error) : undefined);
  if (unresolved !== undefined) return unresolved;
  const isAnswerBegun = statusCode !== undefined || (url !== undefined && error?.phase === 'response');
  if (isAnswerBegun && interruptedPhrases[code] !== undefined) return interruptedPhrases[code];
  const unmatched = dialogue !== undefined && error?.phase === 'response' ? unmatchedPhrases[code] : undefined;
  if (unmatched !== undefined) return unmatched;
  const unfinished =
    error?.phase === 'tls'
      ? handshakePhrases[code]
      : code === 'timed_out' && unfinishedPhrases[error?.phase ?? 'connect'];
  if (url !== undefined && typeof unfinished === 'string') return unfinished;
  // After another attempt, `http2Error` may belong to the previous one.
  const isHttp2End = code === 'http2_ended' || (code === 'protocol_unreachable' && error?.phase === 'request');
  if (isHttp2End && http2Error !== undefined) return http2Reason(http2Error, isAnswerBegun);
  if (code === 'protocol_unreachable' && error?.phase === 'tls' && url !== undefined)
    return 'the server speaks none of the versions of HTTP that were offered';
  // In these phases the client had completed its handshake.
  const isAfterHandshake = error?.phase === 'request' || error?.phase === 'response';
  if (code === 'tls_handshake_failed' && isAfterHandshake) return 'TLS failed after the handshake';
  if (code === 'redirect_refused' && leadsToNoPage(probeResult.result)) return 'a redirect leads to no http(s) URL';
  if (code === 'http_status' && statusCode !== undefined) return `status ${statusCode}`;
  if (isBodyUnfinished(probeResult.result) && statusCode !== undefined && statusCode >= 500)
    return `status ${statusCode}, with ${isCodingCut(probeResult.result) ? 'an incomplete body' : 'a body that did not end in time'}`;
  if (code === 'dns_error' && rcode !== undefined)
    return `the resolver answered ${/^[A-Z0-9]{1,16}$/.test(rcode) ? rcode : 'an error'}`;
  if (isDated(code)) return certificatePhrase({ code, certificate: firstFaultOf(probeResult.result)?.certificate });
  if (code === 'port_unreachable' && error?.source !== 'probe') return portReason(probeResult.result);
  if (code === 'time_exceeded' && ttl !== undefined)
    return `the TTL of ${ttl} that was asked for was used up on the way`;
  if (code === 'timed_out' && ttl !== undefined && isUnfit(probeResult.result)) return silentTtl(ttl);
  if (code === 'packet_too_big' && size !== undefined)
    return `packets ${'hops' in probeResult.result ? `of ${size} bytes` : `with ${size} bytes of payload`} are too big for ${error?.source === 'probe' ? 'the probe’s own link' : 'the path'}`;
  return `${(error?.source === 'probe' ? probesPhrases : phrases)[code]}${asked(probeResult)}`;
}

type CertificateFault = NonNullable<NonNullable<SparseResultOf<'http'>['tls']>['faults']>[number];

function firstFaultOf({ tls }: SparseResultOf<'http'>): CertificateFault | undefined {
  return tls?.faults?.find(({ code }) => code === tls.authorizationError);
}

/** The phrase of a fault of certificates, which says whether another one than the server's own is out of date. */
export function certificatePhrase({ code, certificate }: CertificateFaultAt): string {
  const isAbove = isDated(code) && (certificate ?? 0) > 0;
  return isAbove ? phrases[code].replace('the certificate', 'a certificate above that of the server') : phrases[code];
}

interface CertificateFaultAt {
  readonly code: FailureCode;
  /** Position of the certificate in the chain, 0 for the server’s own; absent or null if it is not known. */
  readonly certificate?: number | null | undefined;
}

/**
 * Phrase for an ICMP port unreachable error. Echo requests have no port, and a closed TCP port answers a SYN with RST,
 * so such an error comes from a filter.
 */
function portReason(result: ProbeResult['result']): string {
  const { state, pingCount, protocol } = result as SparseResultOf<'tcp'> &
    Pick<SparseResultOf<'ping'>, 'pingCount'> &
    Pick<SparseResultOf<'traceroute'>, 'protocol'>;
  if (state === 'filtered') return 'a packet filter refuses the port';
  const isEcho = pingCount !== undefined || protocol === 'icmp';
  return isEcho ? 'a packet filter refuses the packets' : phrases.port_unreachable;
}

/** Phrase for a target that could not be resolved; undefined if the general phrase of the code suits it. */
function resolutionReason({ code, source, canonicalName, family }: Failure): string | undefined {
  if (code === 'timed_out') return 'the name was not resolved in time';
  if (code === 'dns_bad_response') return 'the resolver sent no valid answer to the question';
  if (code === 'dns_no_answer') {
    return source === 'target' ? 'its aliases lead in a circle' : 'the resolver gave no answer about the name';
  }
  if (code === 'dns_no_address' && family !== undefined) return `the name has no IPv${family} address`;
  if (code !== 'dns_nxdomain' || canonicalName === undefined) return undefined;
  return `the name is an alias of ${safeText(canonicalName, 120)}, which does not exist`;
}

/** Clause that not all addresses were tried, since the others may respond; empty if all were, or it is not known. */
function asked(probeResult: ProbeResult): string {
  const { error, addresses, deadAddresses } = probeResult.result as SparseResultOf<'http'>;
  if (error?.phase !== 'connect' || deadAddresses === undefined || addresses === undefined) return '';
  if (addresses.length <= deadAddresses.length) return '';
  const count = `${addresses.length}${isCutOff(probeResult) ? ' or more' : ''}`;
  return `, with ${deadAddresses.length} of the ${count} addresses of the name asked`;
}

/**
 * Reasons of several probes, most frequent first, with counts if they differ; of many, the last ones only as a count.
 */
export function reasonsOf(probeResults: readonly ProbeResult[]): string {
  const groups = groupBy(probeResults, reasonOf);
  if (groups.length === 1) return ofAll(groups[0]!);
  const named = groups.length > MOST_REASONS ? groups.slice(0, MOST_REASONS - 1) : groups;
  const others = groups.slice(named.length).reduce((sum, [, own]) => sum + own.length, 0);
  const texts = named.map((group) => `${ofAll(group)} (${group[1].length})`);
  return listed(others === 0 ? texts : [...texts, `other reasons (${others})`]);
}

const MOST_REASONS = 3;

/** A reason that several probes share, in the plural if it is about the probe itself. */
function ofAll([reason, probeResults]: readonly [string, readonly ProbeResult[]]): string {
  if (probeResults.length === 1) return reason;
  return reason
    .replace(/^the clock of the probe is\b/, 'the clocks of the probes are')
    .replace(/^the policy of the probe refuses\b/, 'the policies of the probes refuse')
    .replace(/^the probe (was|has|lacks)?/, (_all, verb?: keyof typeof pluralVerbs) =>
      verb === undefined ? 'the probes ' : `the probes ${pluralVerbs[verb]}`,
    );
}

const pluralVerbs = { was: 'were', has: 'have', lacks: 'lack' };
