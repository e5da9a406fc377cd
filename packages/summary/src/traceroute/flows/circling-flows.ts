import { buildFinding, type FindingDraft } from '../../finding.ts';
import { groupBy } from '../../probe-result.ts';
import { countOf, listed, naming, safeText, unique } from '../../words.ts';
import type { MultipathNode } from '../multipath/nodes.ts';
import { circleIn } from '../steps/circle-in.ts';
import { HIDDEN_ROUTER } from '../refusals/refusals.ts';
import type { Trace, Route } from '../trace.ts';

/**
 * Routers of the routing loop of a flow, in the order of passage; empty if the flow reaches the target or shows no
 * loop.
 */
export function circleOfFlow({ isReached, steps }: Route): readonly string[] {
  if (isReached) return [];
  return circleIn(steps.map(({ routers }) => (routers.length === 1 ? routers[0]!.ip : null)));
}

/**
 * The routing loops of all flows of a trace, as addresses (`HIDDEN_ROUTER` for a withheld one) in the order of passage.
 */
export function circlesIn({ routes, branching, searched }: Trace): readonly (readonly string[])[] {
  const circles = branching.length === 0 ? routes.map(circleOfFlow) : searched.map(circleOfPath);
  return circles.filter((circle) => circle.length > 0);
}

/**
 * The routing loop of a path of a search. If all its routers lead packets to the target, it counts only if the path
 * ends in it and none of them may balance per packet: behind a per-packet balancer, a router answers at several hops
 * without a loop, but one path of a per-flow balancer may loop while other flows reach the target.
 */
function circleOfPath(path: readonly (MultipathNode | null)[]): readonly string[] {
  const circle = circleIn(path.map((node) => (node?.kind === 'router' ? node : null)));
  const last = path.findLast((node) => node !== null);
  const isEnd = last !== undefined && last !== null && circle.includes(last);
  const isByFlow = circle.every(({ balances }) => balances === null || balances === 'flow');
  if (circle.every(({ reaches }) => reaches) && !(isEnd && isByFlow)) return [];
  return circle.map(({ ip }) => ip ?? HIDDEN_ROUTER);
}

/** The routing loops of a trace in which other flows reach the target. */
function circlesOf(trace: Trace): readonly (readonly string[])[] {
  const { routes, branching, isReached, isFinal } = trace;
  if (!isReached || !isFinal) return [];
  if (branching.length > 0) return circlesIn(trace);
  const alive = routes.filter((route) => route.isReached).flatMap(({ steps }) => steps);
  if (alive.length === 0) return [];
  // A router at several hops of flows that reach the target proves no loop: behind a per-packet balancer with paths of
  // different lengths, routers answer at several hops of all flows.
  const isMoving = (ip: string): boolean =>
    new Set(alive.filter(({ routers }) => routers.some((one) => one.ip === ip)).map(({ hop }) => hop)).size > 1;
  return circlesIn(trace).filter((circle) => !circle.some(isMoving));
}

/** Finding: some flows run into a routing loop, others reach the target. */
export function findCirclingFlows(traces: readonly Trace[]): readonly FindingDraft[] {
  const found = traces
    .map((trace) => ({ trace, circles: circlesOf(trace) }))
    .filter(({ circles }) => circles.length > 0);
  const keyOf = (circle: readonly string[]): string => circle.toSorted().join(' ');
  const circles = Map.groupBy(
    found.flatMap(({ trace, circles: own }) => own.map((circle) => ({ trace, circle }))),
    ({ circle }) => keyOf(circle),
  );
  return [...circles.values()].map((own) => {
    const counted = [...Map.groupBy(own, ({ trace }) => trace)];
    const probeResults = groupBy(
      counted.map(([{ probeResult }]) => probeResult),
      () => 'all',
    )[0]![1];
    const shares = counted.map(([trace, flows]) => shareText(trace, flows.length));
    const routers = listed(unique(own[0]!.circle.map((ip) => safeText(ip))), 6);
    const text = `Packets of ${listed(shares, 3)} go round in a circle of ${routers}, while other flows reach the target: one of several ways is broken, since the routers there disagree about it.`;
    return buildFinding(
      'flows_stop',
      'warning',
      probeResults,
      text,
      `some packets of ${naming(probeResults)} go round in a circle`,
    );
  });
}

/** A search follows only some flows through the loop, so their number is meaningless. */
function shareText({ probeResult, routes, branching }: Trace, flows: number): string {
  return branching.length > 0
    ? `some flows of ${probeResult.probe}`
    : `${flows} of ${countOf(routes.length, 'flow')} of ${probeResult.probe}`;
}
