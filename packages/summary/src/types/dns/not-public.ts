import { answerKindOf, dataOf } from '../../dns-answer.ts';
import { buildFinding, type FindingDraft } from '../../finding.ts';
import { isOfNat64 } from '../../nat64.ts';
import type { ProbeResult, SparseResultOf } from '../../probe-result.ts';
import { listed, naming, safeText, unique } from '../../words.ts';

type DnsResult = ProbeResult<SparseResultOf<'dns'>>;

/**
 * 0/8, 10/8, 127/8, 100.64/10, 169.254/16, 172.16/12, 192.168/16, 198.18/15, from which proxies answer with made-up
 * addresses, and 240/4 (RFC 6890).
 */
const IPV4 =
  /^(?:0|10|127|24\d|25[0-5])\.|^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|^169\.254\.|^172\.(?:1[6-9]|2\d|3[01])\.|^192\.168\.|^198\.1[89]\./;

/** `::`, `::1`, fc00::/7 and fe80::/10 (RFC 6890). */
const IPV6 = /^(?:::1?$|f[cd][0-9a-f]{2}:|fe[89ab][0-9a-f]:)/i;

function isNotPublic(address: string): boolean {
  const mapped = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return mapped.includes(':') ? IPV6.test(mapped) : IPV4.test(mapped);
}

function addressesOf({ result }: DnsResult): readonly string[] {
  const isOfAddresses = result.recordType === 'A' || result.recordType === 'AAAA';
  return isOfAddresses && answerKindOf(result) === 'answer' ? dataOf(result) : [];
}

/** True if an answer has addresses, and none of them is public. */
export function isWithoutPublic(probeResult: DnsResult): boolean {
  const addresses = addressesOf(probeResult);
  return addresses.length > 0 && addresses.every(isNotPublic);
}

/** True if the resolver derived all addresses of an answer from IPv4 addresses of the name (DNS64, RFC 6147). */
export function isTranslated(probeResult: DnsResult): boolean {
  const addresses = addressesOf(probeResult);
  return addresses.length > 0 && addresses.every(isOfNat64);
}

/** Findings: answers whose addresses are not public, and those of DNS64. */
export function findNotPublic(probeResults: readonly DnsResult[]): readonly FindingDraft[] {
  const own = probeResults.filter(isWithoutPublic);
  const translated = probeResults.filter(isTranslated);
  return [
    ...(own.length === 0 ? [] : [notPublic(own, probeResults)]),
    ...(translated.length === 0 ? [] : [made(translated)]),
  ];
}

function notPublic(own: readonly DnsResult[], probeResults: readonly DnsResult[]): FindingDraft {
  const others = probeResults.filter((one) => addressesOf(one).length > 0 && !isWithoutPublic(one));
  const addresses = unique(own.flatMap(addressesOf)).map((address) => safeText(address));
  const what = `${naming(own)} got ${listed(addresses)}, and no public address`;
  if (others.length === 0) {
    const text = `${what}: the name leads to no host on the public internet, or a filter made the answer.`;
    return buildFinding('dns_not_public', 'info', own, text);
  }
  const text = `${what}, where ${naming(others)} got some: a filter, or a network with private answers for its clients, may have made the answer.`;
  const brief = `${naming(own)} ${own.length === 1 ? 'gets' : 'get'} no public address`;
  return buildFinding('dns_not_public', 'warning', own, text, brief);
}

function made(translated: readonly DnsResult[]): FindingDraft {
  const [whose, verb] = translated.length === 1 ? ['The resolver', 'makes'] : ['The resolvers', 'make'];
  const text =
    `${whose} of ${naming(translated)} ${verb} IPv6 addresses of the IPv4 addresses of a name that has no others (DNS64): ` +
    `${listed(unique(translated.flatMap(addressesOf)).map((address) => safeText(address)))}.`;
  return buildFinding('dns_not_public', 'info', translated, text);
}
