import type { Check } from '@vantage/contract';

import { isUnmeasured } from '../compare/fields/common.ts';
import { rttsOf } from '../compare/fields/of-type.ts';
import { isLossChange, rttChange } from '../compare/noise.ts';
import { buildFinding, type FindingDraft } from '../finding.ts';
import type { Partition } from '../partition.ts';
import type { ProbeResult } from '../probe-result.ts';
import { reasonsOf } from '../reasons.ts';
import { withLateAnswers } from '../traceroute/rounds/late.ts';
import type { Trace } from '../traceroute/trace.ts';
import { asText, countOf, listed, ms } from '../words.ts';
import { directionOf, isPartOf, loneHops, loneNetworks, sharedLinks, type Direction } from './direction.ts';

/** Findings of a check between two probes about its two directions. */
export function findDirections(
  { between }: Check,
  traces: readonly Trace[],
  partition: Partition,
): readonly FindingDraft[] {
  const [first, second] = between ?? [];
  if (first === undefined || second === undefined) return [];
  const failing = oneWay(first, second, partition);
  const [there, back] = [directionIn(traces, first, second), directionIn(traces, second, first)];
  if (there === undefined || back === undefined || failing.length > 0) return failing;
  return [...findWays(there, back), ...findTimes(there, back)];
}

function directionIn(traces: readonly Trace[], from: string, to: string): Direction | undefined {
  const trace = traces.find(({ probeResult }) => probeResult.probe === from);
  return trace === undefined || !trace.isFinal || isUnmeasured(trace.probeResult)
    ? undefined
    : directionOf(from, to, trace);
}

/** Finding: one probe reaches the other and is not reached by it. */
function oneWay(first: string, second: string, { up, down }: Partition): readonly FindingDraft[] {
  const [failing, working] = [down[0], up[0]];
  if (down.length !== 1 || up.length !== 1 || failing === undefined || working === undefined) return [];
  const other = failing.probe === first ? second : first;
  const text =
    `${failing.probe} does not reach ${other}: ${reasonsOf([failing])}. ${other} reaches ${failing.probe}, and its packets and their ` +
    `answers cross both ways: so packets get from ${failing.probe}, or what answers at its address, to ${other}, and a filter, a host that does ` +
    'not answer or one way of several explains this better than a broken path.';
  return [buildFinding('direction_fails', 'warning', [failing], text, failing.probe)];
}

/**
 * Finding: the directions take different paths, or no difference between their paths is known; none if neither applies.
 */
function findWays(there: Direction, back: Direction): readonly FindingDraft[] {
  const both = [there, back].map(({ trace }) => trace.probeResult);
  const { evidence, isByAddress } = differences(there, back);
  if (evidence.length > 0) {
    const isTunnel = isPartOf(there, back) || isPartOf(back, there);
    const differ = isTunnel || isByAddress ? 'seem to differ' : 'differ';
    const tunnel = isTunnel ? ' A tunnel that hides hops in one direction only looks the same.' : '';
    const address = isByAddress
      ? ' Routers that answer from other addresses to each side, such as loopbacks, look the same.'
      : '';
    const text = `The ways of ${there.from} and ${there.to} ${differ}: ${evidence.join('; ')}.${tunnel}${address}${reservation(there, back)}`;
    return [buildFinding('directions_differ', 'info', both, text, `their ways ${differ}`)];
  }
  if (!isAlike(there, back)) return [];
  const { shared } = sharedLinks(there, back);
  const hops = there.length!.most;
  const network = there.trace.target?.includes(':') === true ? '/126' : '/30';
  const links =
    shared === 0
      ? ''
      : `, and the ${countOf(shared, 'router')} after the first ${shared === 1 ? 'has' : 'have'} an address in the same ${network} as one of the other direction`;
  const text = `Nothing tells the ways of ${there.from} and ${there.to} apart: ${countOf(hops, 'hop')} in both directions${links}.`;
  return [buildFinding('directions_alike', 'info', both, text)];
}

/**
 * Evidence that the directions take different paths: networks, or routers if no network differs, then the lengths.
 * `isByAddress` is true if neither networks nor lengths differ.
 */
function differences(
  there: Direction,
  back: Direction,
): { readonly evidence: readonly string[]; readonly isByAddress: boolean } {
  const directions = [
    [there, back],
    [back, there],
  ] as const;
  const ends = endNetworks(there, back);
  const networks = directions.flatMap(([own, other]) => {
    const lone = loneNetworks(own, other, ends).map(({ asn, asName }) => asText(asn, asName)!);
    return lone.length === 0
      ? []
      : [`${listed(lone)} ${lone.length === 1 ? 'is' : 'are'} crossed from ${own.from} only`];
  });
  const routers = directions.flatMap(([own, other]) => {
    const lone = loneHops(own, other);
    const addresses = lone.map(({ routers: [router] }) => router!.ip);
    return lone.length === 0
      ? []
      : [`${listed(addresses, 3)} on the way from ${own.from} are near no router of the other`];
  });
  const lengths = hopDifference(there, back);
  return {
    evidence: [...(networks.length > 0 ? networks : routers), ...lengths],
    isByAddress: networks.length + lengths.length === 0,
  };
}

/** Minimum difference in hops that counts as different lengths: a NAT in front of a probe explains one hop. */
const LEAST_HOPS_MORE = 2;

function hopDifference(there: Direction, back: Direction): readonly string[] {
  const [a, b] = [there.length, back.length];
  if (a === undefined || b === undefined) return [];
  const apart = Math.max(a.least - there.hiddenAtStart - b.most, b.least - back.hiddenAtStart - a.most);
  if (apart < LEAST_HOPS_MORE) return [];
  return [`${there.to} is ${hopsText(a)} from ${there.from}, and ${there.from} is ${hopsText(b)} from ${there.to}`];
}

function hopsText({ least, most }: NonNullable<Direction['length']>): string {
  return least === most ? countOf(most, 'hop') : `${least} to ${most} hops`;
}

/** Limits of the comparison, as sentences for the finding. */
function reservation(there: Direction, back: Direction): string {
  const flows = Math.min(...[there, back].map(({ trace }) => trace.routes.length + trace.branching.length));
  const balancers =
    flows > 1 ? '' : ' One flow was traced each way: a load balancer may send another over the other way.';
  return ` Routers are compared by network and by the links between them, since each answers with another address to either side.${balancers}`;
}

function endNetworks(there: Direction, back: Direction): ReadonlySet<string> {
  const ofTargets = [there, back].flatMap(({ trace: { steps, target } }) =>
    steps.flatMap(({ routers }) => routers.filter(({ ip }) => ip === target).map(({ asn }) => asn)),
  );
  const recorded = [there, back].map(({ trace }) => trace.probeResult.facts?.asNumber);
  return new Set([...ofTargets, ...recorded].filter((asn) => typeof asn === 'string'));
}

/**
 * True if both directions may take the same path: equal lengths, no unknown hop, and for each hop after the first an
 * address of the other direction in the network of the same link.
 */
function isAlike(there: Direction, back: Direction): boolean {
  const [a, b] = [there.length, back.length];
  if (a === undefined || b === undefined || a.least !== b.least || a.most !== b.most) return false;
  if (there.unknown + back.unknown > 0) return false;
  return [sharedLinks(there, back), sharedLinks(back, there)].every(({ shared, of }) => shared === of);
}

/** Finding: times or losses differ, although a round trip crosses both directions, whichever end measures it. */
function findTimes(there: Direction, back: Direction): readonly FindingDraft[] {
  const results = [there, back].map(({ trace }) => trace.probeResult as ProbeResult) as [ProbeResult, ProbeResult];
  const [rttsThere, rttsBack] = results.map((result) => rttsOf('traceroute', result)) as [number[], number[]];
  const rtt = rttChange(rttsThere, rttsBack);
  const [lossThere, lossBack] = [lossOf(there), lossOf(back)];
  const texts = [
    ...(rtt === undefined
      ? []
      : [`the round trip takes ${ms(rtt.aMs)} from ${there.from} and ${ms(rtt.bMs)} from ${there.to}`]),
    ...(isLossChange(lossThere, lossBack, 1)
      ? [`${lossText(lossThere)} packets are lost from ${there.from} and ${lossText(lossBack)} from ${there.to}`]
      : []),
  ];
  if (texts.length === 0) return [];
  const text =
    `Measured from both ends, ${listed(texts)}. Each of these packets or its answer crosses either way, so a direction alone does not ` +
    'explain it: another flow does, or routers that treat packets and answers differently (by protocol, size or DSCP), or an end that ' +
    'answers late or limits its answers.';
  return [buildFinding('direction_slower', 'info', results, text)];
}

/**
 * Sent and lost packets, without those that were answered late, to the hops at which the other probe answered, and with
 * the full TTL.
 */
function lossOf({ trace }: Direction): { readonly sent: number; readonly lost: number } {
  const { steps, target, fullTtl } = trace;
  const own = steps
    .filter(({ routers }) => routers.some(({ ip }) => ip === target))
    .map((step) => withLateAnswers(trace, step));
  const direct = fullTtl?.rtts ?? [];
  return {
    sent: own.reduce((sum, { sent }) => sum + sent, direct.length),
    lost: own.reduce((sum, { lost }) => sum + lost, direct.filter((rtt) => rtt === null).length),
  };
}

function lossText({ sent, lost }: { readonly sent: number; readonly lost: number }): string {
  return `${lost} of ${sent}`;
}
