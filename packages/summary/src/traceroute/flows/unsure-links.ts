import { circleOfFlow } from './circling-flows.ts';
import type { Step, Trace, Route } from '../trace.ts';

/**
 * Repeated answers (beyond the first per flow and hop) that prove per-flow balancing, if all come from the router that
 * answered the flow first; counted at hops with several routers.
 */
const REPEATS = 6;

/** Number of answers, all from one router, from which a hop is taken to have no other router. */
const ENOUGH = 12;

/**
 * Returns whether a link between two neighbouring hops of a flow is unsure: a balancer may choose per packet, so that
 * the packets to the two hops took different paths. A router at two hops of a flow shows paths of different length:
 * then each link is unsure from the first hop that may have several routers. If the links between two hops cross, there
 * may be paths of equal length: then these links are unsure, unless repeats prove that flows keep their paths. No link
 * is unsure if the trace has only one flow or is a search for all paths.
 */
export function unsureLinks({ routes, branching }: Trace): (from: Step, to: Step) => boolean {
  if (routes.length < 2 || branching.length > 0) return () => false;
  const steps = routes.flatMap((route) => route.steps);
  const stepsAt = Map.groupBy(steps, ({ hop }) => hop);
  const several = new Set(
    [...stepsAt].flatMap(([hop, own]) => (new Set(own.flatMap(addressesOf)).size > 1 ? [hop] : [])),
  );
  const first = routes.some((route) => isTwiceOnWay(route, routes))
    ? firstHop(stepsAt, Math.min(...several))
    : Infinity;
  const crossed = isSteady(steps, several)
    ? new Set<number>()
    : new Set([...several].filter((hop) => isCrossed(hop, routes)));
  return (from) => from.hop >= first || crossed.has(from.hop);
}

/** The first hop that may have several routers: this one, or the first of the hops with few answers directly before. */
function firstHop(stepsAt: ReadonlyMap<number, readonly Step[]>, hop: number): number {
  const answers = (stepsAt.get(hop - 1) ?? []).reduce((sum, { sent, lost }) => sum + sent - lost, 0);
  return hop > 1 && answers < ENOUGH ? firstHop(stepsAt, hop - 1) : hop;
}

function addressesOf({ routers }: Step): readonly string[] {
  return routers.map(({ ip }) => ip);
}

/**
 * True if a router answers at two hops of a flow, but at only one of them in another flow: a router that also answers
 * for its next hop would do so in all flows. False for a flow in a routing loop.
 */
function isTwiceOnWay(route: Route, routes: readonly Route[]): boolean {
  if (circleOfFlow(route).length > 0) return false;
  const hopsOf = Map.groupBy(
    route.steps.flatMap(({ hop, routers }) => routers.map(({ ip }) => ({ hop, ip }))),
    ({ ip }) => ip,
  );
  return [...hopsOf].some(([ip, own]) => {
    const hops = new Set(own.map(({ hop }) => hop));
    const isOnce = ({ steps }: Route): boolean => {
      const answered = steps.filter(({ hop, routers }) => hops.has(hop) && routers.length > 0);
      const here = answered.filter((step) => addressesOf(step).includes(ip));
      return here.length > 0 && here.length < answered.length;
    };
    return hops.size > 1 && routes.some(isOnce);
  });
}

/**
 * True if repeats show that no balancer chooses per packet: the same router answered all packets of a flow at a hop.
 */
function isSteady(steps: readonly Step[], several: ReadonlySet<number>): boolean {
  const own = steps.filter(({ hop, routers }) => several.has(hop) && routers.length > 0);
  const repeats = own.reduce((sum, { sent, lost }) => sum + sent - lost - 1, 0);
  return own.every(({ routers }) => routers.length === 1) && repeats >= REPEATS;
}

/**
 * True if a router of the hop leads to two routers of the next hop, and another router of the hop leads to one of these
 * as well.
 */
function isCrossed(hop: number, routes: readonly Route[]): boolean {
  const next = new Map<string, Set<string>>();
  for (const { steps } of routes) {
    const [from, to] = [hop, hop + 1].map((at) => steps.find((step) => step.hop === at)?.routers ?? []);
    for (const { ip } of from!) next.set(ip, new Set([...(next.get(ip) ?? []), ...to!.map((one) => one.ip)]));
  }
  const all = [...next.values()];
  return all.some((one) => one.size > 1 && all.some((other) => other !== one && [...other].some((ip) => one.has(ip))));
}
