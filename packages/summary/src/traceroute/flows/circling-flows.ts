import { buildFinding, type FindingDraft } from '../../finding.ts';
import { groupBy } from '../../probe-result.ts';
import { countOf, listed, naming, shown, unique } from '../../words.ts';
import type { Trace, Way } from '../trace.ts';

/** Rounds of the same two routers or more that prove a circle. */
const ROUNDS = 2;

/**
 * Routers, in the order of passage, among which the packets of a flow go round; empty if the flow reaches the target or
 * shows no circle.
 */
export function circleOfFlow({ isReached, steps }: Way): readonly string[] {
  if (isReached) return [];
  const path = steps.map(({ routers }) => (routers.length === 1 ? routers[0]!.ip : null));
  for (let start = 0; start < path.length; start += 1) {
    for (let length = 2; start + ROUNDS * length <= path.length; length += 1) {
      const circle = path.slice(start, start + length).filter((ip) => ip !== null);
      const isRound = path
        .slice(start, start + ROUNDS * length)
        .every((ip, index) => ip === path[start + (index % length)]);
      if (isRound && new Set(circle).size === length) return circle;
    }
  }
  return [];
}

/** Flows of a trace that circle, while others reach the target. */
function circlesOf(trace: Trace): readonly (readonly string[])[] {
  const { ways, isReached, isFinal } = trace;
  const alive = ways.filter((way) => way.isReached).flatMap(({ steps }) => steps);
  if (!isReached || !isFinal || alive.length === 0) return [];
  // Behind a balancer by packet with ways of different lengths, too, one router answers at several hops, of all flows.
  const isMoving = (ip: string): boolean =>
    new Set(alive.filter(({ routers }) => routers.some((one) => one.ip === ip)).map(({ hop }) => hop)).size > 1;
  return ways.map(circleOfFlow).filter((circle) => circle.length > 0 && !circle.some(isMoving));
}

/** Finding: packets of some flows go round in a circle, others reach the target. */
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
    const shares = counted.map(
      ([{ probeResult, ways }, flows]) => `${flows.length} of ${countOf(ways.length, 'flow')} of ${probeResult.probe}`,
    );
    const routers = listed(unique(own[0]!.circle.map((ip) => shown(ip))), 6);
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
