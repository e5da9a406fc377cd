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
  /** The ICMP error that came in answer here, other than that a TTL ran out. */
  readonly icmp: Icmp | null;
}

export type Icmp = NonNullable<Hop['icmp']>;

/** The path of one flow. */
export interface Way {
  readonly steps: readonly Step[];
  /** Whether the target answered any packet of it. */
  readonly isReached: boolean;
  /** Whether it is known that its packets go no further than the last answer. */
  readonly isEnded: boolean;
}

export interface Trace {
  readonly report: TraceReport;
  readonly steps: readonly Step[];
  readonly target: string | null;
  readonly isReached: boolean;
  readonly isFinal: boolean;
  /** Undefined in results of older probes. */
  readonly stopReason: string | null | undefined;
  readonly fullTtl: ResultOf<'traceroute'>['fullTtl'];
  /** One of each flow; of a result that does not tell flows apart a single one with all routers. */
  readonly ways: readonly Way[];
}

/** The paths of all probes that have hops. */
export function tracesOf(reports: readonly TraceReport[]): readonly Trace[] {
  return reports.flatMap((report) => {
    const { hops = [], flows = [], reached, resolvedIp, stopReason, fullTtl } = report.result;
    if (hops.length === 0) return [];
    const sorted = hops.toSorted((a, b) => a.hop - b.hop);
    const steps = sorted.map(stepOf);
    const isFinal = report.outcome !== 'pending';
    const isReached = reached === true;
    const ways = flows.length === 0 ? [{ steps, isReached, isEnded: false }] : flows.map((flow) => wayOf(flow, sorted));
    return [{ report, steps, target: resolvedIp ?? null, isReached, isFinal, stopReason, fullTtl, ways }];
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
    icmp: hop.icmp,
  };
}

type FlowPath = NonNullable<ResultOf<'traceroute'>['flows']>[number];

const ended: ReadonlySet<string> = new Set(['gap_limit', 'unreachable']);

function wayOf({ reached, stopReason, hops: answers }: FlowPath, hops: readonly Hop[]): Way {
  const steps = hops.map((hop) => ({ ...stepOf(hop), ...seenBy(answers[hop.hop - 1] ?? [], hop) })).map(onTheWay);
  return { steps, isReached: reached, isEnded: !reached && ended.has(stopReason) };
}

/** Without a router that refused a packet on its way to this hop: it stands at another one. */
function onTheWay(step: Step, index: number, steps: readonly Step[]): Step {
  const from = step.icmp?.from;
  const standsBefore = steps.slice(0, index).some(({ routers }) => routers.some(({ ip }) => ip === from));
  if (from === undefined || from === null || !standsBefore) return step;
  return { ...step, routers: step.routers.filter(({ ip }) => ip !== from) };
}

/** What the packets of one flow met at a hop, the responder that answered most of them first. */
function seenBy(answers: readonly (number | null)[], hop: Hop): Pick<Step, 'routers' | 'isPrivate' | 'sent' | 'lost'> {
  const counts = new Map<number, number>();
  for (const index of answers) if (index !== null) counts.set(index, (counts.get(index) ?? 0) + 1);
  const known = routersOf(hop);
  const routers = [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .flatMap(([index]) => known.find(({ ip }) => ip === hop.responders[index]?.ip) ?? []);
  const lost = answers.filter((index) => index === null).length;
  // A responder for which the result had no room is not known either.
  return { routers, isPrivate: routers.length === 0 && counts.size > 0, sent: answers.length, lost };
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

/** The index of the target's own hop; undefined where it answered none of the packets that count hops. */
export function targetIndex({ steps, target, isReached, stopReason }: Trace): number | undefined {
  if (!isReached) return undefined;
  const index = steps.findLastIndex(({ routers }) => routers.some(({ ip }) => ip === target));
  const last =
    index === -1 && (stopReason === undefined || stopReason === 'completed')
      ? steps.findLastIndex((step) => !isSilent(step))
      : index;
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
