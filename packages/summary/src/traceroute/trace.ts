import { byText, type Report, type ResultOf } from '../report.ts';
import { asText, shown } from '../words.ts';

export type TraceReport = Report<ResultOf<'traceroute'>>;
type Hop = NonNullable<ResultOf<'traceroute'>['hops']>[number];

/** A router that answered for a hop and whose address is known. */
export interface Router {
  readonly ip: string;
  readonly hostname: string | null;
  readonly asn: string | null;
  readonly asName: string | null;
  readonly rttMin: number | null;
}

/** One position of a path. */
export interface Step {
  readonly hop: number;
  /** The one that answered most comes first. Empty where nobody answered, or whoever did is not shown. */
  readonly routers: readonly Router[];
  /** Somebody answered, and its address is not shown. */
  readonly isPrivate: boolean;
  readonly sent: number;
  readonly lost: number;
  readonly rttMin: number | null;
  /** The mark of an ICMP error that ended the path here. */
  readonly mark: string | null;
}

export interface Trace {
  readonly report: TraceReport;
  readonly steps: readonly Step[];
  readonly target: string | null;
  readonly isReached: boolean;
  readonly isFinal: boolean;
}

/** The paths of all probes that have hops. */
export function tracesOf(reports: readonly TraceReport[]): readonly Trace[] {
  return reports.flatMap((report) => {
    const { hops = [], reached, resolvedIp } = report.result;
    if (hops.length === 0) return [];
    const steps = hops.toSorted((a, b) => a.hop - b.hop).map(stepOf);
    const isFinal = report.outcome !== 'pending';
    return [{ report, steps, target: resolvedIp ?? null, isReached: reached === true, isFinal }];
  });
}

function stepOf(hop: Hop): Step {
  const routers = routersOf(hop);
  return {
    hop: hop.hop,
    routers,
    isPrivate: routers.length === 0 && (hop.private || hop.responders.some((one) => one.private)),
    sent: hop.rtts.length,
    lost: hop.rtts.filter((rtt) => rtt === null).length,
    rttMin: least(hop.rtts),
    mark: hop.icmp?.mark ?? null,
  };
}

function routersOf(hop: Hop): readonly Router[] {
  const routers = new Map<string, Router>();
  for (const one of [hop, ...hop.responders]) {
    if (one.ip === null) continue;
    const own = hop.responders.find(({ ip }) => ip === one.ip)?.rtts ?? hop.rtts;
    const { ip, hostname, asn, asName } = one;
    if (!routers.has(ip)) routers.set(ip, { ip, hostname, asn, asName, rttMin: least(own) });
  }
  const [first, ...others] = routers.values();
  return first === undefined ? [] : [first, ...others.toSorted((a, b) => byText(a.ip, b.ip))];
}

function least(rtts: readonly (number | null)[]): number | null {
  const known = rtts.filter((rtt) => rtt !== null);
  return known.length === 0 ? null : Math.min(...known);
}

export function isSilent({ routers, isPrivate }: Step): boolean {
  return routers.length === 0 && !isPrivate;
}

/** The index of the target's own hop; undefined where it did not answer. */
export function targetIndex({ steps, target, isReached }: Trace): number | undefined {
  if (!isReached) return undefined;
  const index = steps.findLastIndex(({ routers }) => routers.some(({ ip }) => ip === target));
  const last = index === -1 ? steps.findLastIndex((step) => !isSilent(step)) : index;
  return last === -1 ? undefined : last;
}

/** Where it is, for a sentence: hop, address, network. */
export function stepText({ hop, routers, isPrivate }: Step): string {
  const [router] = routers;
  if (router === undefined) return `hop ${hop}${isPrivate ? ' (a private address)' : ''}`;
  const network = asText(router.asn, router.asName);
  return `hop ${hop}, ${shown(router.ip)}${network === undefined ? '' : ` in ${network}`}`;
}

/** What puts the same place of different paths together: the network, else the router, else the position. */
export function placeKey({ hop, routers }: Step): string {
  const [router] = routers;
  return router?.asn ?? router?.ip ?? `hop ${hop}`;
}
