import { buildFinding, type FindingDraft } from './finding.ts';
import type { Measurements } from './measurements.ts';
import type { ProbeResult, SparseResultOf } from './probe-result.ts';
import { naming, safeText, unique } from './words.ts';

interface MeasuredPair {
  readonly probe: string;
  readonly of: Measurements;
}

/** Finding: the paths over both families cross different networks. The addresses of two families cannot be compared. */
export function findFamilyPaths(pairs: readonly MeasuredPair[]): readonly FindingDraft[] {
  const differing = pairs.flatMap((pair) => {
    const [ipv4, ipv6] = ([4, 6] as const).map((family) => networksOf(pair.of[family]));
    return crossesMore(ipv4!, ipv6!) || crossesMore(ipv6!, ipv4!) ? [{ pair, ipv4: ipv4!, ipv6: ipv6! }] : [];
  });
  const [first] = differing;
  if (first === undefined) return [];
  const example = `${first.ipv4.networks.join(' ')} over IPv4, ${first.ipv6.networks.join(' ')} over IPv6`;
  const probes = differing.map(({ pair }) => pair);
  const text = `IPv4 and IPv6 take other networks from ${naming(probes)}; from ${first.pair.probe}: ${example}.`;
  return [buildFinding('family_paths_differ', 'info', probes, text)];
}

interface CrossedNetworks {
  readonly networks: readonly string[];
  /** The network of each hop; undefined if it is not known. */
  readonly hops: readonly (string | undefined)[];
  /**
   * Number of hops that may hide a network: silent ones, and after the first known network also others without one.
   * Infinite if the path is not known to its end.
   */
  readonly hidden: number;
}

/**
 * True if neither the hidden hops of `other` nor addresses of links (`isOfLinks`) explain all networks that only `own`
 * shows. False if `other` shows no network.
 */
function crossesMore(own: CrossedNetworks, other: CrossedNetworks): boolean {
  const lone = own.networks.filter((network) => !other.networks.includes(network));
  return other.networks.length > 0 && lone.length > other.hidden && !isOfLinks(own, other, lone);
}

/**
 * True if the networks may be missing from `other` only because of its addresses: a link between two networks has
 * addresses of one of them, so the first router of a network may show the network before it. The next router of the
 * network shows the right one, so this explains only single hops.
 */
function isOfLinks(own: CrossedNetworks, other: CrossedNetworks, lone: readonly string[]): boolean {
  const isLone = own.hops.map((network) => network !== undefined && lone.includes(network));
  const isSingle = isLone.every((is, index) => !is || isLone[index + 1] !== true);
  return isSingle && isLone.filter((is) => is).length === lone.length && own.hops.length <= other.hops.length;
}

function networksOf({ result }: ProbeResult): CrossedNetworks {
  const { hops = [], reached } = result as SparseResultOf<'traceroute'>;
  const ofHops = hops.map(({ asn }) => (typeof asn === 'string' ? safeText(asn, 12) : undefined));
  const networks = unique(ofHops.flatMap((network) => network ?? []));
  const isEnd = reached === true && typeof hops.at(-1)?.ip === 'string';
  // The first hops are often private addresses of the probe's own network.
  const start = hops.findIndex(({ asn }) => typeof asn === 'string');
  const hidden = hops.filter(({ ip, private: isPrivate, asn }, index) =>
    ip === null && !isPrivate ? true : index > start && typeof asn !== 'string',
  );
  return { networks, hops: ofHops, hidden: isEnd ? hidden.length : Number.POSITIVE_INFINITY };
}
