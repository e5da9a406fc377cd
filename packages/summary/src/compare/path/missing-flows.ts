import type { CanonicalPath, PathChange } from '@vantage/contract';

import { chanceOfMore } from '../../chance.ts';
import type { Trace, Route } from '../../traceroute/trace.ts';
import { thresholds } from '../../thresholds.ts';
import { targetHopOf } from './flows.ts';

/** Flows of one trace, or of several, at one hop. */
export interface HopFlows {
  readonly total: number;
  /** Number of flows that each router answered. */
  readonly of: ReadonlyMap<string, number>;
  /** Number of flows that no router with a known address answered. */
  readonly unknown: number;
}

/**
 * Paths of load balancers that one of two traces should show but does not: the parts of the path at which a router of
 * one trace is missing in the other. No proof of a change, because the balancer’s weights are not known.
 */
export function missingFlows(a: Trace, b: Trace, pathA: CanonicalPath, pathB: CanonicalPath): readonly PathChange[] {
  const last = Math.min(pathA.hops.length, pathB.hops.length);
  const hops = Array.from({ length: last }, (_, index) => index + 1).filter((hop) => {
    const [ofA, ofB] = [flowsAt(a, hop), flowsAt(b, hop)];
    return lacksWay(ofA, ofB) || lacksWay(ofB, ofA);
  });
  return changesAt(hops.map((hop) => ({ hop, a: pathA.hops[hop - 1]!, b: pathB.hops[hop - 1]! })));
}

/** The routers of two paths at some hops; hops in a row are one change. */
export function changesAt(
  hops: readonly { readonly hop: number; readonly a: readonly string[]; readonly b: readonly string[] }[],
): readonly PathChange[] {
  const changes: PathChange[] = [];
  for (const { hop, a, b } of hops) {
    const [inA, inB] = [[...a], [...b]];
    const before = changes.at(-1);
    if (before !== undefined && before.hopA! + before.a.length === hop) {
      before.a.push(inA);
      before.b.push(inB);
    } else changes.push({ hopA: hop, hopB: hop, a: [inA], b: [inB] });
  }
  return changes;
}

/**
 * True if `less` lacks a router of `more` that its flows would seldom miss, both if all next hops are used evenly, as
 * MDA assumes, and if the router has the same share of the flows as in `more`. An unanswered flow of `less` counts as
 * one that passed the router.
 */
function lacksWay(more: HopFlows, less: HopFlows): boolean {
  const { evenly, byShare } = thresholds.compare.missingWay;
  const routes = more.of.size;
  if (routes < 2 || less.of.size === 0) return false;
  return [...more.of].some(
    ([router, flows]) =>
      !less.of.has(router) &&
      routes * chanceOfAtMost(less.unknown, less.total, 1 / routes) <= evenly &&
      chanceOfMore({ sent: more.total, lost: flows }, { sent: less.total, lost: less.unknown }) <= byShare,
  );
}

/** Binomial distribution: the probability of at most `most` successes. */
function chanceOfAtMost(most: number, trials: number, chance: number): number {
  let [sum, term] = [0, (1 - chance) ** trials];
  for (let k = 0; k <= Math.min(most, trials); k += 1) {
    sum += term;
    term *= ((trials - k) / (k + 1)) * (chance / (1 - chance));
  }
  return sum;
}

export function flowsAt(trace: Trace, hop: number): HopFlows {
  return trace.branching.length > 0 ? flowsOnLinks(trace, hop) : flowsOfRoutes(trace.routes, hop, trace.target);
}

function flowsOfRoutes(routes: readonly Route[], hop: number, target: string | null): HopFlows {
  const of = new Map<string, number>();
  const known = routes.filter(({ steps, isReached }) => {
    const end = isReached ? targetHopOf(steps, target) : undefined;
    const routers = end !== undefined && hop > end ? [] : (steps.find((step) => step.hop === hop)?.routers ?? []);
    for (const { ip } of routers) of.set(ip, (of.get(ip) ?? 0) + 1);
    return routers.length > 0;
  });
  return { total: routes.length, of, unknown: routes.length - known.length };
}

/**
 * Flows that a search for all paths sent to this hop; none if no link leads to one of its nodes, as behind a per-packet
 * balancer.
 */
function flowsOnLinks({ branching }: Trace, hop: number): HopFlows {
  const nodes = branching.filter((node) => node.hop === hop);
  const of = new Map<string, number>();
  let [total, unknown] = [0, 0];
  if (nodes.some(({ before }) => before.length === 0)) return { total, of, unknown };
  for (const { ip, before } of nodes) {
    const flows = before.reduce((sum, link) => sum + link.flows, 0);
    total += flows;
    if (ip === null) unknown += flows;
    else of.set(ip, (of.get(ip) ?? 0) + flows);
  }
  return { total, of, unknown };
}
