import type { ProbeResult, SparseResultOf } from './probe-result.ts';
import { thresholds } from './thresholds.ts';

type Result = SparseResultOf<'traceroute'>;
type Hop = NonNullable<Result['hops']>[number];

/** Minimum number of silent hops in a row: fewer may be a router that answers nothing. */
const SILENT_HOPS = 2;
/** Minimum number of packets to these hops, in the trace itself and in all others together. */
const PACKETS = 5;

/**
 * Private, shared, unique local and link-local addresses (RFC 1918, 6598, 4193, 3927, 4291): many networks have them.
 */
const LOCAL =
  /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|169\.254\.|f[cd]|fe[89ab])/i;

/**
 * True if the address identifies one router: a public address, or any address if the target is local, since local
 * addresses are unique within its network.
 */
export function isUnique(ip: string, target: string | null | undefined): boolean {
  return !LOCAL.test(ip) || (typeof target === 'string' && LOCAL.test(target));
}

/**
 * True if a trace ended before the target: behind a router that it has in common with traces that reached the target,
 * it goes on by another router and then falls silent, although routers at the silent hops answered the other traces. A
 * rate limit of the target’s answers does not explain that.
 */
export function endsBeforeTarget(result: Result, others: readonly ProbeResult[]): boolean {
  const hops = (result.hops ?? []).toSorted((a, b) => a.hop - b.hop);
  const last = hops.findLast((hop) => hop.responders.length > 0);
  if (last === undefined) return false;
  const reaching = others.map((other) => other.result as Result).filter(({ reached }) => reached === true);
  const passed = new Set(reaching.flatMap(({ hops: own = [] }) => own.flatMap(addressesOf)));
  const isPassed = (hop: Hop): boolean => hop.responders.length > 0 && addressesOf(hop).every((ip) => passed.has(ip));
  const fork = hops.findLast((hop) => isPassed(hop) && addressesOf(hop).every((ip) => isUnique(ip, result.resolvedIp)));
  if (fork === undefined || addressesOf(last).length === 0 || isPassed(last)) return false;
  const shared = new Set(addressesOf(fork));
  const alike = reaching.filter(({ hops: own = [] }) =>
    own.some((hop) => addressesOf(hop).some((ip) => shared.has(ip))),
  );
  const ends = alike.flatMap(({ hops: own = [], resolvedIp }) =>
    own.filter((hop) => addressesOf(hop).includes(resolvedIp ?? '')).map(({ hop }) => hop),
  );
  const isBetween = ({ hop }: Hop): boolean => hop > last.hop && hop < Math.min(...ends);
  const silent = hops.filter(isBetween);
  const own = silent.flatMap(({ rtts }) => rtts);
  if (silent.length < SILENT_HOPS || own.length < PACKETS || own.some((rtt) => rtt !== null)) return false;
  const answering = alike.flatMap(({ hops: theirs = [] }) => theirs.filter(isBetween).flatMap(({ rtts }) => rtts));
  const lost = answering.filter((rtt) => rtt === null).length;
  return answering.length >= PACKETS && lost <= answering.length * thresholds.sharedLoss;
}

/** The known addresses that answered at a hop; none if any is withheld. */
function addressesOf({ responders }: Hop): readonly string[] {
  const known = responders.flatMap(({ ip }) => ip ?? []);
  return known.length === responders.length ? known : [];
}
