import { buildFinding, type FindingDraft } from '../../finding.ts';
import { groupBy } from '../../probe-result.ts';
import { thresholds } from '../../thresholds.ts';
import { countOf, listed } from '../../words.ts';
import { chanceOfMore, choices } from '../chance.ts';
import { lastOf, placesIn, sampleOf } from '../dead-ways.ts';
import { isSilent, stepText, targetIndex, type Step, type Trace, type Way } from '../trace.ts';

/** Flows of a trace that are silent beyond a router which leads other flows to the target. */
interface CutFlows {
  readonly trace: Trace;
  readonly flows: readonly Way[];
  readonly last: Step;
}

/**
 * Flows that die behind a router that all flows pass: balancers without own addresses (bundles of links, several
 * hosts behind one address) and filters by ports always drop the same flows. Chance and limits choose packets, not flows.
 */
function cutFlowsOf(trace: Trace): readonly CutFlows[] {
  const { ways, isReached, isFinal } = trace;
  const alive = ways.filter((way) => way.isReached);
  if (!isReached || !isFinal || alive.length === 0) return [];
  const passed = new Set(alive.flatMap(({ steps }) => steps.flatMap(placesIn)));
  const silent = ways.flatMap((way) => {
    const last = lastOf(way);
    const isCut =
      way.isEnded && way.refusal === null && last !== undefined && placesIn(last).some((one) => passed.has(one));
    return isCut ? [{ way, last }] : [];
  });
  const byEnd = Map.groupBy(silent, ({ last }) => placesIn(last).toSorted().join(' '));
  return [...byEnd.values()]
    .map((own) => ({ trace, flows: own.map(({ way }) => way), last: own[0]!.last }))
    .filter((cut) => !isByChance(cut) && !mayBeLimited(cut));
}

/**
 * True if chance explains that so many of the flows lost all packets beyond the router, given the loss of the others. Packets
 * with the full TTL count if the target answered none: they are of these flows then, and a target that limits its answers
 * gives some in these seconds.
 */
function isByChance({ trace: { ways, fullTtl }, flows, last }: CutFlows): boolean {
  const full = fullTtl?.rtts ?? [];
  if (full.length < thresholds.cutFlows.full * flows.length || full.some((rtt) => rtt !== null)) return true;
  const alive = ways.filter((way) => way.isReached);
  const asked = new Set(stepsBeyond(alive, last).flatMap((step) => (isSilent(step) ? [] : [step.hop])));
  const isAsked = ({ hop }: Step): boolean => asked.has(hop);
  const lost = sampleOf(stepsBeyond(flows, last).filter(isAsked)).lost + full.length;
  const others = sampleOf(stepsBeyond(alive, last).filter(isAsked));
  const choice = Math.exp(choices(ways.length, flows.length));
  return choice * chanceOfMore({ sent: lost, lost }, others) > thresholds.beginByChance;
}

function stepsBeyond(ways: readonly Way[], { hop }: Step): readonly Step[] {
  return ways.flatMap(({ steps }) => steps.filter((step) => step.hop > hop));
}

/**
 * True if the target may have left the packets unanswered because of a limit: a limit that is used up answers the first
 * packets and none of the last. Else the target answers other flows after a packet of these, to the end.
 */
function mayBeLimited({ trace }: CutFlows): boolean {
  const { answeredLater, lostLast } = thresholds.cutFlows;
  const hop = trace.steps[targetIndex(trace) ?? -1]?.hop;
  const rtts = trace.probeResult.result.hops?.find((one) => one.hop === hop)?.rtts ?? [];
  const alive = trace.ways
    .filter((way) => way.isReached)
    .flatMap(({ steps }) => steps.filter((step) => step.hop === hop));
  // As many lost packets may be of flows that reached the target.
  const first = rtts.flatMap((rtt, at) => (rtt === null ? [at] : []))[sampleOf(alive).lost] ?? rtts.length;
  const later = rtts.slice(first).filter((rtt) => rtt !== null).length;
  const last = rtts.findLastIndex((rtt) => rtt !== null);
  return later < answeredLater || rtts.length - 1 - last > lostLast;
}

/** Finding: flows do not reach the target although they pass the routers of those that do. */
export function findCutFlows(traces: readonly Trace[]): readonly FindingDraft[] {
  const cut = traces.flatMap(cutFlowsOf);
  return [...Map.groupBy(cut, ({ last }) => last.routers[0]?.ip ?? `hop ${last.hop}`).values()].map((own) => {
    const probeResults = groupBy(
      own.map(({ trace }) => trace.probeResult),
      () => 'all',
    )[0]![1];
    const shares = own.map(
      ({ trace: { probeResult, ways }, flows }) =>
        `${flows.length} of ${countOf(ways.length, 'flow')} of ${probeResult.probe}`,
    );
    const verb = own.length === 1 && own[0]!.flows.length === 1 ? 'does' : 'do';
    const where = stepText(own[0]!.last);
    const filter = own.every(({ trace }) => trace.probeResult.result.protocol === 'icmp')
      ? 'a filter drops them'
      : 'a filter drops them by their ports';
    const text = `${listed(shares, 3)} ${verb} not reach the target: nothing comes back from beyond ${where}, which the other flows pass too. One of several ways behind it is broken, or ${filter}.`;
    return buildFinding('flows_stop', 'warning', probeResults, text, `some flows end behind ${where}`);
  });
}
