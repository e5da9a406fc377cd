import type { SummaryGroup } from '@vantage/contract';

import { soleReachOf, resolvedFamily, isRedirected, lastHost } from './requested-servers.ts';
import { isCutOff } from './cut-off.ts';
import { buildFinding, type FindingDraft } from './finding.ts';
import { groupsOf } from './groups.ts';
import { byText, groupBy, type ProbeResult, type SparseResultOf } from './probe-result.ts';
import { redirectedHost } from './redirected.ts';
import { countOf, naming, safeText, safeDistinctTexts, tally, unique } from './words.ts';

/** The distinct addresses that the result lists, or else the one that the probe measured; undefined without either. */
function addressesOf(probeResult: ProbeResult): readonly string[] | undefined {
  const { addresses = [] } = probeResult.result as SparseResultOf<'info'>;
  if (addresses.length > 0) return unique(addresses);
  const { resolvedIp } = probeResult.result;
  return resolvedIp === null || resolvedIp === undefined ? undefined : [resolvedIp];
}

export function groupAddresses(probeResults: readonly ProbeResult[]): readonly SummaryGroup[] {
  return groupsOf('addresses', probeResults, addressesOf);
}

export function findAddresses(probeResults: readonly ProbeResult[]): readonly FindingDraft[] {
  return [...differing(probeResults), ...families(probeResults)];
}

function differing(probeResults: readonly ProbeResult[]): readonly FindingDraft[] {
  // Compared per family: probes that use different families are a separate finding.
  const families = ['IPv4', 'IPv6'].map((family) =>
    probeResults.filter((probeResult) => resolvedFamily(probeResult) === family && !isCutOff(probeResult)),
  );
  // Redirects may lead to different hosts: only addresses of one host are compared.
  const hosts = families.flatMap((own) =>
    groupBy(withoutUnlisted(own), ({ result }) => redirectedHost(result as SparseResultOf<'http'>) ?? ''),
  );
  return hosts.flatMap(([host, own]) => {
    const groups = groupAddresses(own);
    if (groups.length < 2) return [];
    const textOf = (probeResult: ProbeResult): string => addressesOf(probeResult)?.join(', ') ?? '';
    const textShown = safeDistinctTexts(own.map(textOf), 160);
    const seen = tally(own, (probeResult) => textShown(textOf(probeResult)));
    const what = host === '' ? 'The host' : `${host}, where redirects lead,`;
    const text = `${what} has different addresses for different probes: ${seen}.${byPlace(own, groups)}`;
    return [buildFinding('addresses_differ', 'info', own, text)];
  });
}

/**
 * Leaves out probes without a list of addresses whose measured address is in the list of another probe: agents of
 * earlier releases do not list all addresses that they found.
 */
function withoutUnlisted(own: readonly ProbeResult[]): readonly ProbeResult[] {
  const listed = new Set(own.filter(listsSeveral).flatMap((probeResult) => addressesOf(probeResult) ?? []));
  return own.filter((probeResult) => listsSeveral(probeResult) || !listed.has(probeResult.result.resolvedIp ?? ''));
}

/** True if the result has a list of the addresses of the name, as each http and info result with an address has. */
function listsSeveral({ result }: ProbeResult): boolean {
  return ((result as SparseResultOf<'info'>).addresses ?? []).length > 0;
}

/**
 * The sentence that the answer may depend on the country of the probe, as that of a CDN does; empty unless the country
 * of each probe is known, all probes of a country see the same addresses, and a country has several probes.
 */
function byPlace(probeResults: readonly ProbeResult[], groups: readonly SummaryGroup[]): string {
  const seenBy = new Map<string, Set<number>>();
  for (const { probe, facts } of probeResults) {
    if (facts === undefined) return '';
    const index = groups.findIndex(({ probes }) => probes.includes(probe));
    seenBy.set(facts.countryCode, (seenBy.get(facts.countryCode) ?? new Set()).add(index));
  }
  if (seenBy.size === probeResults.length || [...seenBy.values()].some(({ size }) => size > 1)) return '';
  return ' Probes of one country see the same: the answer may go by place, as that of a content network does.';
}

function families(probeResults: readonly ProbeResult[]): readonly FindingDraft[] {
  const hosts = probeResults.some(isRedirected)
    ? unique(probeResults.flatMap((one) => lastHost(one) ?? []))
    : [undefined];
  const differing = hosts.flatMap((host) => {
    const used = groupBy(probeResults, (probeResult) => soleReachOf(probeResult, host));
    if (used.length < 2) return [];
    const [first, ...others] = used.toSorted(([a], [b]) => byText(a, b));
    const at = host === undefined ? '' : ` for ${safeText(host, 120)}`;
    const all = [`${naming(first![1])} used ${first![0]}`, ...others.map(([way, own]) => `${naming(own)} ${way}`)];
    return [{ used, text: `${all.join(', ')}${at}` }];
  });
  if (differing.length === 0) return [];
  const used = differing.flatMap((one) => one.used);
  const matter = used.some(([way]) => way.includes('NAT64')) ? 'the family or the translation' : 'the family';
  const [named, others] = [differing.slice(0, 3), differing.length - 3];
  const more = others > 0 ? `; others differ for ${countOf(others, 'more host', 'more hosts')}` : '';
  const text = `${named.map((one) => one.text).join('; ')}${more}: what differs between them may be a matter of ${matter}.`;
  return [
    buildFinding(
      'families_differ',
      'info',
      used.flatMap(([, own]) => own),
      text,
    ),
  ];
}
