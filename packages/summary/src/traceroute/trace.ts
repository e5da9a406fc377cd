import type { ProbeResult, SparseResultOf } from '../probe-result.ts';
import { asText, safeText } from '../words.ts';
import { refusedOnWay } from './steps/refused-on-way.ts';
import { least, routersOf, type Router } from './steps/routers.ts';
import { nodeIds, multipathNodesOf, type MultipathNode } from './multipath/nodes.ts';

export type { Router } from './steps/routers.ts';

export type TraceResult = ProbeResult<SparseResultOf<'traceroute'>>;
type Hop = NonNullable<SparseResultOf<'traceroute'>['hops']>[number];

/** One hop of a path. */
export interface Step {
  readonly hop: number;
  /** The most frequent responder first. Empty if none answered, or if no responder has a known address. */
  readonly routers: readonly Router[];
  /** True if responders answered, but none has a known address. */
  readonly isPrivate: boolean;
  /**
   * In a step of one flow: indices of the hop's responders that answered the flow; they distinguish routers with
   * withheld addresses. In a step of all flows: empty.
   */
  readonly responders: readonly number[];
  readonly sent: number;
  readonly lost: number;
  /** Number of the lost packets that a router before this hop refused. */
  readonly refused: number;
  readonly rttMin: number | null;
  /** The hop's ICMP error, other than time exceeded. */
  readonly icmp: Icmp | null;
}

export type Icmp = NonNullable<Hop['icmp']>;

/** The path of one flow. */
export interface Route {
  readonly steps: readonly Step[];
  /** True if the target answered any of its packets. */
  readonly isReached: boolean;
  /** True if the target answered none of its packets, and silent hops or an ICMP error ended the flow. */
  readonly isEnded: boolean;
  /** The ICMP error with which the last router that answered the flow refused its packets; null if it did not. */
  readonly refusal: Icmp | null;
}

export interface Trace {
  readonly probeResult: TraceResult;
  readonly steps: readonly Step[];
  readonly target: string | null;
  readonly isReached: boolean;
  readonly isFinal: boolean;
  /** Undefined in pending results, and in those of older agents. */
  readonly stopReason: string | null | undefined;
  readonly fullTtl: SparseResultOf<'traceroute'>['fullTtl'];
  /** One per flow; a single one with all routers if the result does not separate flows. */
  readonly routes: readonly Route[];
  /** Nodes of a search for all paths; empty without one. With a search, `routes` has the first flow only. */
  readonly branching: readonly MultipathNode[];
  /** For each flow of a search for all paths its nodes from the first hop on, null if unknown. */
  readonly searched: readonly (readonly (MultipathNode | null)[])[];
}

/** Paths of all probes that report hops. */
export function tracesOf(probeResults: readonly TraceResult[]): readonly Trace[] {
  return probeResults.flatMap((probeResult) => {
    const { hops = [], flows = [], reached, resolvedIp, stopReason, fullTtl, multipath } = probeResult.result;
    if (hops.length === 0) return [];
    const sorted = hops.toSorted((a, b) => a.hop - b.hop);
    const steps = sorted.map(stepOf);
    const isFinal = probeResult.outcome !== 'pending';
    const isReached = reached === true;
    const routes =
      flows.length === 0
        ? [{ steps, isReached, isEnded: false, refusal: null }]
        : flows.map((flow) => routeOf(flow, sorted, steps));
    const target = resolvedIp ?? null;
    const branching = multipath === undefined ? [] : multipathNodesOf(multipath, nodeIds(probeResult.probe, target));
    const searched = (multipath?.paths ?? []).map((path) => path.map((index) => branching[index ?? -1] ?? null));
    return [{ probeResult, steps, target, isReached, isFinal, stopReason, fullTtl, routes, branching, searched }];
  });
}

function stepOf(hop: Hop): Step {
  const routers = routersOf(hop);
  const lost = hop.rtts.filter((rtt) => rtt === null).length;
  return {
    hop: hop.hop,
    routers,
    isPrivate: routers.length === 0 && (hop.private || hop.responders.some((one) => one.private)),
    responders: [],
    sent: hop.rtts.length,
    lost,
    refused: Math.min(lost, refusedOnWay(hop)),
    rttMin: least(hop.rtts),
    icmp: hop.icmp,
  };
}

type FlowPath = NonNullable<SparseResultOf<'traceroute'>['flows']>[number];

const ended: ReadonlySet<string> = new Set(['gap_limit', 'unreachable']);

/** The path of one flow, from its answers and from `all`, the steps of all flows together, one per hop. */
function routeOf({ reached, stopReason, hops: answers }: FlowPath, hops: readonly Hop[], all: readonly Step[]): Route {
  const steps = all
    .map((step, index) => ({ ...step, ...seenBy(answers[step.hop - 1] ?? [], hops[index]!, step.routers) }))
    .map(withoutEarlierRefuser);
  const isEnded = !reached && ended.has(stopReason);
  return { steps, isReached: reached, isEnded, refusal: stopReason === 'unreachable' ? refusalAtEnd(steps) : null };
}

/** Removes a router that refused a packet before this hop: it belongs to another hop. */
export function withoutEarlierRefuser(step: Step, index: number, steps: readonly Step[]): Step {
  const from = step.icmp?.from;
  if (from === undefined || from === null) return step;
  const standsBefore = steps.slice(0, index).some(({ routers }) => routers.some(({ ip }) => ip === from));
  if (!standsBefore) return step;
  return { ...step, routers: step.routers.filter(({ ip }) => ip !== from) };
}

function refusalAtEnd(steps: readonly Step[]): Icmp | null {
  const end = steps.findLast((step) => !isSilent(step));
  // Errors with withheld senders look alike: only that of the last hop is surely the flow's own.
  if (end?.isPrivate === true) return end.icmp?.from === null ? end.icmp : null;
  const last = end?.routers[0]?.ip;
  return steps.flatMap(({ icmp }) => icmp ?? []).findLast(({ from }) => last !== undefined && from === last) ?? null;
}

/** The answers to one flow at a hop; `routers` most frequent first, `responders` in the order of the answers. */
function seenBy(
  answers: readonly (number | null)[],
  { responders }: Hop,
  known: readonly Router[],
): Pick<Step, 'routers' | 'isPrivate' | 'responders' | 'sent' | 'lost'> {
  const counts = new Map<number, number>();
  let lost = 0;
  for (const index of answers) {
    if (index === null) lost += 1;
    else counts.set(index, (counts.get(index) ?? 0) + 1);
  }
  const found = [...counts.keys()];
  const routers: Router[] = [];
  for (const index of counts.size < 2 ? found : found.toSorted((a, b) => counts.get(b)! - counts.get(a)!)) {
    const router = known.find(({ ip }) => ip === responders[index]?.ip);
    if (router !== undefined) routers.push(router);
  }
  // `isPrivate` is also true for a responder that the result omits because of its size limit.
  return {
    routers,
    isPrivate: routers.length === 0 && counts.size > 0,
    responders: found,
    sent: answers.length,
    lost,
  };
}

export function isSilent({ routers, isPrivate }: Step): boolean {
  return routers.length === 0 && !isPrivate;
}

/**
 * Index of the target’s own hop, or of the last answer if the trace was completed by another address; undefined if the
 * trace did not reach the target, or neither is known.
 */
export function targetIndex({ steps, target, isReached, stopReason, branching }: Trace): number | undefined {
  if (!isReached) return undefined;
  const isTarget = ({ routers }: Step): boolean => routers.some(({ ip }) => ip === target);
  const first = steps.findIndex(isTarget);
  // In a search, a flow whose packets to the target's hop were lost has the target at a later hop.
  if (branching.length > 0 && first !== -1 && isTargetAlone(steps.slice(first), target)) return first;
  const index = steps.findLastIndex(isTarget);
  const last =
    index === -1 && (stopReason === undefined || stopReason === 'completed')
      ? steps.findLastIndex((step) => !isSilent(step))
      : index;
  return last === -1 ? undefined : last;
}

/** True if only the target, or nothing, answered at these hops. */
export function isTargetAlone(steps: readonly Step[], target: string | null): boolean {
  return steps.every(({ routers, isPrivate }) => !isPrivate && routers.every(({ ip }) => ip === target));
}

/** Describes the hop for a sentence: position, address, network. */
export function stepText({ hop, routers, isPrivate }: Pick<Step, 'hop' | 'routers' | 'isPrivate'>): string {
  const [router] = routers;
  if (router === undefined) return `hop ${hop}${isPrivate ? ' (a private address)' : ''}`;
  const network = asText(router.asn, router.asName);
  return `hop ${hop}, ${safeText(router.ip)}${network === undefined ? '' : ` in ${network}`}`;
}

/** Key that identifies one location on several paths: network, else router, else position. */
export function placeKey({ hop, routers }: Step): string {
  const [router] = routers;
  return router?.asn ?? router?.ip ?? `hop ${hop}`;
}
