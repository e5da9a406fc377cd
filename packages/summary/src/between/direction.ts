import { networkText, readAddress } from '@vantage/contract/address';

import type { Trace, Step } from '../traceroute/trace.ts';

/** The path from one of two probes to the other, as a trace shows it. */
export interface Direction {
  readonly from: string;
  readonly to: string;
  readonly trace: Trace;
  /** The first and the last hop at which the other probe answered; undefined if it answered at none. */
  readonly length: { readonly least: number; readonly most: number } | undefined;
  /** Hops with known routers, without those at which the other probe answered and those beyond the last of these. */
  readonly known: readonly Step[];
  /**
   * Number of hops before the last one at which the other probe answered that are not `known`. Infinite if it answered
   * at no hop.
   */
  readonly unknown: number;
  /**
   * Number of hops before the first known router, or of all hops if none is known. They may be behind a NAT, at which
   * the other direction ends.
   */
  readonly hiddenAtStart: number;
}

export function directionOf(from: string, to: string, trace: Trace): Direction {
  const { steps, target } = trace;
  const isTarget = ({ routers }: Step): boolean => routers.some(({ ip }) => ip === target);
  const ends = steps.filter(isTarget).map(({ hop }) => hop);
  const length = ends.length === 0 ? undefined : { least: Math.min(...ends), most: Math.max(...ends) };
  const before = steps.filter((step) => length === undefined || (step.hop < length.most && !isTarget(step)));
  const known = before.filter(({ routers }) => routers.length > 0);
  const hops = length === undefined ? Number.POSITIVE_INFINITY : length.most - 1;
  const hiddenAtStart = known[0] === undefined ? hops : known[0].hop - 1;
  return { from, to, trace, length, known, unknown: hops - known.length, hiddenAtStart };
}

/** A network that one direction crosses and the other does not. */
export interface LoneNetwork {
  readonly asn: string;
  readonly asName: string | null;
  readonly hops: number;
}

/**
 * Networks on at least two hops of one direction and on none of the other, counted by one router per hop. If both
 * directions use the same links, both should show the network of each link, because the addresses of its two ends are
 * mostly of one network. A network counts only if it has more hops here than the other direction has hops of unknown
 * network, because these may hide it. Networks of the ends are left out, because only one direction shows the first
 * link.
 *
 * @param ends networks of both probes
 */
export function loneNetworks(own: Direction, other: Direction, ends: ReadonlySet<string>): readonly LoneNetwork[] {
  const networks = new Map<string, LoneNetwork>();
  for (const { routers } of own.known) {
    const router = routers.find(({ asn }) => asn !== null);
    if (router === undefined || router.asn === null) continue;
    const { asn, asName } = router;
    networks.set(asn, { asn, asName, hops: (networks.get(asn)?.hops ?? 0) + 1 });
  }
  const crossed = new Set(other.known.flatMap(({ routers }) => routers.map(({ asn }) => asn)));
  // A hop without geo data may hide a network as well.
  const hidden = other.unknown + other.known.filter(({ routers }) => routers.every(({ asn }) => asn === null)).length;
  return [...networks.values()].filter(
    ({ asn, hops }) => hops >= LEAST_HOPS && hops > hidden && !crossed.has(asn) && !ends.has(asn),
  );
}

/**
 * Minimum number of differing hops of a different path: a single one may be a router that answers with an address of
 * another link.
 */
const LEAST_HOPS = 2;

/**
 * Hops of one direction with no address of the other direction, or of an end, nearby; none if they are fewer than
 * `LEAST_HOPS`, or if the unknown hops of the other direction may hide them. A router answers with the address of the
 * interface at which the packet arrived, or by which its answer leaves. If both directions take the same path, they
 * show the two ends of each link. The first hop is left out, since a NAT may hide it from the other side.
 */
export function loneHops(own: Direction, other: Direction): readonly Step[] {
  const seen = neighbourhoodsOf(own, other);
  const lone = own.known.filter(
    ({ hop, routers }) => hop > 1 && routers.every(({ ip }) => !seen.has(neighbourhood(ip))),
  );
  return lone.length >= LEAST_HOPS && lone.length > other.unknown ? lone : [];
}

/**
 * True if all routers of one direction after its first hop have addresses near those of the other one or of an end, and
 * the other one is longer: then a tunnel that hides hops of the same path also explains the difference.
 */
export function isPartOf(own: Direction, other: Direction): boolean {
  if (own.length === undefined || other.length === undefined || own.length.most >= other.length.least) return false;
  const seen = neighbourhoodsOf(own, other);
  return own.known.every(({ hop, routers }) => hop === 1 || routers.every(({ ip }) => seen.has(neighbourhood(ip))));
}

/** Neighbourhoods of the routers of the other direction, and of both ends. */
function neighbourhoodsOf(own: Direction, other: Direction): ReadonlySet<string> {
  const routers = other.known.flatMap(({ routers: of }) => of.map(({ ip }) => ip));
  const ends = [own, other].flatMap(({ trace: { target } }) => target ?? []);
  return new Set([...routers, ...ends].map(neighbourhood));
}

/**
 * `of`: number of known hops of one direction, without hop 1. `shared`: number of these with an address in the same
 * link network (`linkOf`) as an address of the other direction.
 */
export function sharedLinks(own: Direction, other: Direction): { readonly shared: number; readonly of: number } {
  const seen = new Set(other.known.flatMap(({ routers }) => routers.map(({ ip }) => linkOf(ip))));
  const compared = own.known.filter(({ hop }) => hop > 1);
  const shared = compared.filter(({ routers }) => routers.some(({ ip }) => seen.has(linkOf(ip))));
  return { shared: shared.length, of: compared.length };
}

/** The /30 (IPv6: /126) of the address: the usual network of a link between two routers; it also contains a /31. */
function linkOf(ip: string): string {
  return prefixOf(ip, 30, 126);
}

/** @returns a network around the address that is wide enough for links between more than two routers */
function neighbourhood(ip: string): string {
  return prefixOf(ip, 24, 64);
}

/** The network of an address; the text itself if it is no address, because results of agents may contain any text. */
function prefixOf(ip: string, ofFour: number, ofSix: number): string {
  const bytes = readAddress(ip);
  return bytes === undefined ? ip : networkText(bytes, bytes.length === 4 ? ofFour : ofSix);
}
