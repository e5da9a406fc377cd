import type { LookUpPlace } from '@vantage/contract';

import { buildFinding, type FindingDraft } from '../finding.ts';
import type { ProbeResult } from '../probe-result.ts';
import { asText, listed, naming, safeText, unique } from '../words.ts';
import { findBrokenBranches } from './broken-branches.ts';
import { cuts, unheard } from './cuts.ts';
import { circleOf, endReason, grouped, probeResults } from './end-reason.ts';
import { deadFlows, findDeadFlows } from './flows/dead-flows.ts';
import { findHeaders } from './headers/find-headers.ts';
import { findMtus } from './mtu/find-mtus.ts';
import { circleOfRounds, findCirclesOfRounds } from './rounds/circle.ts';
import { findOutages, outageOf } from './rounds/outage.ts';
import { findPauses } from './rounds/pause.ts';
import { findPathChanges } from './rounds/path-change.ts';
import { brokenPathsOf } from './multipath/broken-paths.ts';
import { findCirclingFlows } from './flows/circling-flows.ts';
import { findCutFlows } from './flows/cut-flows.ts';
import type { MultipathNode } from './multipath/nodes.ts';
import { findRefusals, type PathRefusal } from './refusals/refusals.ts';
import { findOtherAddress } from './headers/other-address.ts';
import { findResets } from './resets.ts';
import { routersPassed, stops } from './stops.ts';
import type { Step, Trace } from './trace.ts';

/**
 * Findings about the ends of paths, outages of the target, broken paths, packet sizes, headers and path changes.
 *
 * @param unproved results whose silence is no evidence
 */
export function findEnds(
  traces: readonly Trace[],
  unproved: readonly ProbeResult[],
  placeOf: LookUpPlace | undefined,
): readonly FindingDraft[] {
  const isUnproved = ({ probeResult }: Trace): boolean => unproved.includes(probeResult);
  const silent = traces.filter((trace) => endReason(trace) === 'silent');
  const outages = traces.flatMap((trace) => outageOf(trace, traces) ?? []);
  return [
    ...loops(traces),
    ...findCirclesOfRounds(traces),
    ...findOutages(outages),
    ...findPauses(traces),
    ...findRefusals(
      traces,
      (refusal) =>
        endsWayOf(refusal) ||
        outages.some((outage) => outage.trace === refusal.trace && outage.refusal?.where === refusal.where),
    ),
    ...stops(
      silent.filter((trace) => !isUnproved(trace)),
      routersPassed(traces),
      placeOf,
    ),
    ...unheard(silent.filter(isUnproved)),
    ...cuts(traces),
    ...findDeadFlows(traces),
    ...findCutFlows(traces),
    ...findCirclingFlows(traces),
    ...findBrokenBranches(traces),
    ...findMtus(traces),
    ...findHeaders(traces),
    ...findResets(traces),
    ...findOtherAddress(traces),
    ...findPathChanges(traces.filter((trace) => circleOfRounds(trace) === undefined)),
  ];
}

/** True if the router that refused packets ends one of several paths, which the finding `flows_stop` reports. */
function endsWayOf({ trace, ip, answered }: PathRefusal): boolean {
  if (!trace.isReached) return false;
  const refusals = deadFlows(trace).flatMap(({ refusal }) => refusal ?? []);
  const isRefused = ({ kind }: MultipathNode): boolean => kind === 'refused';
  const told = brokenPathsOf(trace.branching, trace.fullTtl).filter(({ last }) => isRefused(last));
  if (ip !== null) return refusals.some(({ from }) => from === ip) || told.some(({ last }) => last.ip === ip);
  // A withheld address does not identify the router: `flows_stop` must report all refusing routers with such an
  // address, or this error must have ended a dead path.
  const hidden = trace.branching.filter((node) => isRefused(node) && node.ip === null);
  const isToldOfAll = hidden.length > 0 && hidden.every((node) => told.some(({ last }) => last.index === node.index));
  return isToldOfAll || refusals.some((refusal) => refusal === answered?.icmp);
}

function loops(traces: readonly Trace[]): readonly FindingDraft[] {
  const looping = traces.filter((trace) => endReason(trace) === 'loop');
  return grouped(looping, (trace) => unique(circleOf(trace).map(placeOrPosition)).join(' ')).map((own) => {
    const circle = circleOf(own[0]!);
    if (circle.length === 1) return oneForAll(own, circle[0]!);
    const all = circle.map(({ hop, routers: [router] }) => (router === undefined ? `hop ${hop}` : safeText(router.ip)));
    const routers = [...new Set(all)];
    const networks = unique(circle.flatMap(({ routers: [router] }) => asText(router?.asn, router?.asName) ?? []));
    const where = networks.length === 0 ? '' : `, in ${listed(networks, 3)}`;
    const text = `Packets of ${naming(probeResults(own))} go round in a circle of ${listed(routers, 6)}${where}: the routers there disagree about the way.`;
    return buildFinding('routing_loop', 'critical', probeResults(own), text, 'packets go round in a circle');
  });
}

/** Finding: a single router answers for all hops, which proves no routing loop. */
function oneForAll(own: readonly Trace[], { hop, routers: [router] }: Step): FindingDraft {
  const network = asText(router?.asn, router?.asName);
  const name = router === undefined ? '' : `, ${safeText(router.ip)}${network === undefined ? '' : ` in ${network}`},`;
  const text = `One router${name} answers the packets of ${naming(probeResults(own))} from hop ${hop} on as if the TTL of all ended there: they come back to it again and again, or something before it sets their TTL.`;
  const brief = `one router answers for every hop from ${hop} on`;
  return buildFinding('routing_loop', 'critical', probeResults(own), text, brief);
}

function placeOrPosition({ hop, routers: [router] }: Step): string {
  return router?.ip ?? `hop ${hop}`;
}
