import type { Difference, PathComparison } from '@vantage/contract';

import { ofType, type ProbeResult, type SparseResultOf } from '../../probe-result.ts';
import type { Sample } from '../../chance.ts';
import { thresholds } from '../../thresholds.ts';
import { unique } from '../../words.ts';
import {
  ANOTHER_WAY,
  differentSet,
  differentValue,
  uncertainly,
  withoutSamples,
  type DifferenceDraft,
} from '../difference.ts';

type Traceroute = SparseResultOf<'traceroute'>;
type Hops = NonNullable<Traceroute['hops']>;

/** Differences of the path MTU, rewritten header fields, DSCP, and the state of a TCP port. */
export function pathFieldDifferences(a: ProbeResult, b: ProbeResult): readonly Difference[] {
  const [ofA, ofB] = ofType<'traceroute'>([a, b]).map(({ result }) => result) as [Traceroute, Traceroute];
  const [hopsOfA, hopsOfB] = [ofA.hops ?? [], ofB.hops ?? []];
  const dscp = { subject: 'dscp', label: 'DSCP on the path' } as const;
  return [
    // Only two known states of the same port are compared: without a state the target was not reached over TCP, or its
    // answer did not reveal the state.
    ...(ofA.port === ofB.port
      ? differentValue({ subject: 'state', label: 'port' }, ofA.state ?? undefined, ofB.state ?? undefined)
      : []),
    ...mtuDifferences(ofA, ofB),
    ...differentSet({ subject: 'rewritten', label: 'translated fields' }, rewrittenIn(hopsOfA), rewrittenIn(hopsOfB)),
    // Not compared if the checks requested different DSCPs: this alone explains a difference on the path.
    ...(ofA.dscp === ofB.dscp ? differentSet(dscp, dscpIn(hopsOfA), dscpIn(hopsOfB)) : []),
  ];
}

/**
 * True if a load balancer may explain differences of two traces: the flows of the two checks may take different paths
 * behind it.
 */
export function mayBeBalanced({ relation }: PathComparison, a: ProbeResult, b: ProbeResult): boolean {
  const traces = ofType<'traceroute'>([a, b]).map(({ result }) => result as Traceroute);
  return relation !== 'changed' && (relation !== 'same' || traces.some(isBalanced));
}

export function doubted({ chance: _chance, ...difference }: DifferenceDraft): DifferenceDraft {
  return { ...uncertainly(difference), text: `${withoutSamples(difference.text)}${ANOTHER_WAY}` };
}

/**
 * Number of flows of a trace that the target answered, at least one; with `flows: "all"`, of those whose paths are in
 * the result.
 */
export function answeredFlows({ flows = [], multipath }: Traceroute): number {
  return Math.max(1, multipath?.paths.length ?? flows.filter(({ reached }) => reached).length);
}

/** The last hop at which the target is the responder that answered most; undefined without one. */
export function targetHop({ hops = [], resolvedIp }: Traceroute): Hops[number] | undefined {
  return hops.findLast(({ ip }) => ip !== null && ip === resolvedIp);
}

/**
 * Sent and lost packets at the `targetHop`, or at all `targetHops` if there are several; undefined without the former.
 */
export function lossAtTarget(result: Traceroute): Sample | undefined {
  const target = targetHop(result);
  if (target === undefined) return undefined;
  if ((result.targetHops?.length ?? 0) > 1) {
    const sum = (field: 'sent' | 'received'): number => result.targetHops!.reduce((all, one) => all + one[field], 0);
    return { sent: sum('sent'), lost: Math.max(0, sum('sent') - sum('received')) };
  }
  const { rtts, stats } = target;
  if (stats !== undefined) return { sent: stats.sent, lost: Math.max(0, stats.sent - stats.received) };
  return { sent: rtts.length, lost: rtts.filter((rtt) => rtt === null).length };
}

function isBalanced({ hops = [], multipath }: Traceroute): boolean {
  return (
    hops.some(({ responders }) => responders.length > 1) || (multipath?.nodes ?? []).some(({ balances }) => balances)
  );
}

function mtuDifferences(a: Traceroute, b: Traceroute): readonly Difference[] {
  const sizes = differentValue({ subject: 'mtu', name: 'pathMtu', label: 'path MTU' }, mtuOf(a), mtuOf(b));
  const [holeOfA, holeOfB] = [a.mtuBlackHole ?? null, b.mtuBlackHole ?? null];
  if (mtuOf(a) === undefined || mtuOf(b) === undefined) return [...sizes, ...fullSizeDifferences(a, b)];
  const hole = {
    subject: 'mtu',
    name: 'mtuBlackHole',
    label: 'echo requests without answer or error, from bytes',
  } as const;
  const holes = differentValue(hole, holeOfA, holeOfB);
  // If the path MTU is below the ordinary one and no black hole was found, the search may have ended when a router
  // reported that MTU, before larger packets were sent.
  const isUnproved = [a, b].some((one) => (one.mtuBlackHole ?? null) === null && mtuOf(one)! < thresholds.mtu.ordinary);
  return [...sizes, ...(isUnproved ? holes.map(uncertainly) : holes), ...fullSizeDifferences(a, b)];
}

/**
 * Whether full-size packets of the trace’s protocol arrived, if that differs; none if the checks used different
 * protocols.
 */
function fullSizeDifferences(a: Traceroute, b: Traceroute): readonly Difference[] {
  if (a.protocol !== b.protocol || a.fullSize === undefined || b.fullSize === undefined) return [];
  const what = { subject: 'mtu', name: 'fullSize', label: 'packets of full size' } as const;
  const outcome = ({ fullSize }: Traceroute): string => (fullSize!.arrives ? 'arrive' : 'vanish without an error');
  return differentValue(what, outcome(a), outcome(b));
}

function mtuOf({ pathMtu }: Traceroute): number | undefined {
  return pathMtu ?? undefined;
}

/**
 * Fields whose values in the routers’ quotations differ from those sent; undefined if no router quoted a packet, or the
 * result had no room for the quotations.
 */
function rewrittenIn(hops: Hops): readonly string[] | undefined {
  const quoted = hops.flatMap(({ replies = [] }) => replies).filter(({ quotedTtl }) => quotedTtl !== undefined);
  return quoted.length === 0 ? undefined : unique(quoted.flatMap(({ rewritten = [] }) => rewritten));
}

function dscpIn(hops: Hops): readonly string[] | undefined {
  const values = hops.flatMap(({ replies = [] }) => replies).flatMap(({ quotedDscp }) => quotedDscp ?? []);
  return values.length === 0 ? undefined : unique(values.map(String));
}
