import type { PathEnd, Paths } from '@vantage/contract';

import { byText } from '../probe-result.ts';
import { canonicalPath } from './canonical.ts';
import { deadFlows } from './flows/dead-flows.ts';
import { unsureLinks } from './flows/unsure-links.ts';
import { circleOf, endReason } from './end-reason.ts';
import { addEdge, addNode, edgesFrom, finished, type Draft, type Edges } from './drafts.ts';
import { branchesOf, least, reachedFrom } from './multipath/branches.ts';
import { brokenPathsOf } from './multipath/broken-paths.ts';
import { nodeIds, type NodeIds } from './multipath/nodes.ts';
import { isSilent, targetIndex, type Router, type Step, type Trace, type Route } from './trace.ts';
import { safeText } from '../words.ts';

/** A hop of one path with the ids of its nodes, that of the router with the most answers first. */
interface Place {
  readonly step: Step;
  readonly ids: readonly string[];
}

/**
 * Merges paths. An address is one node in all paths (`nodeIds`). A hop without one is shared by two paths if it is of the
 * same kind (silent or private), with the same neighbouring addresses and the same position between them.
 *
 * @param others traces over the other family
 */
export function mergePaths(first: readonly Trace[], others: readonly Trace[] = []): Paths {
  const traces = [...first, ...others];
  const nodes = new Map<string, Draft>();
  const edges: Edges = new Map();
  const ends = new Map<string, PathEnd & { readonly probes: string[] }>();
  const targets = new Set(traces.flatMap(({ target }) => target ?? []));
  for (const trace of traces) {
    const { probe } = trace.probeResult;
    const own = nodeIds(probe, trace.target);
    addNode(nodes, { ...blank(own.start), kind: 'probe' }, probe, 0, null);
    const dead = deadFlows(trace);
    const isUnsure = unsureLinks(trace);
    addBranches(nodes, edges, trace, targets);
    for (const route of trace.branching.length > 0 ? [] : trace.routes) {
      const hasTail =
        trace.isFinal &&
        !isRefused(route) &&
        (trace.isReached ? dead.includes(route) && route.refusal === null : !route.isReached);
      const places = placesOf(route.steps, own, hasTail);
      for (const { step, ids } of places) {
        for (const [index, id] of ids.entries()) {
          const router = step.routers[index];
          addNode(nodes, nodeOf(id, step, router, targets), probe, step.hop, router?.rttMin ?? step.rttMin);
        }
      }
      for (const [index, { step, ids }] of places.entries()) {
        const before = places[index - 1];
        const isInferred = before !== undefined && (before.ids.length > 1 || isUnsure(before.step, step));
        addEdges(edges, before?.ids ?? [own.start], ids, probe, isInferred);
      }
    }
    const brokenEnds = brokenPathsOf(trace.branching, trace.fullTtl).map(({ last: { id, kind } }) => {
      return { node: id, reason: kind === 'refused' ? ('refused' as const) : ('silent' as const) };
    });
    for (const end of [endOf(trace, own), ...dead.map((route) => deadEndOf(route, own)), ...brokenEnds]) {
      // Results are untrusted: the end may be at a hop that no flow has.
      const node = nodes.has(end.node) ? end.node : own.start;
      const key = `${end.reason} ${node}`;
      const others = ends.get(key)?.probes.filter((other) => other !== probe) ?? [];
      ends.set(key, { ...end, node, probes: [...others, probe] });
    }
  }
  const sorted = [...nodes.values()].map(finished).toSorted((a, b) => a.hopMin - b.hopMin || byText(a.id, b.id));
  return {
    nodes: sorted,
    edges: sorted.flatMap(({ id }) => edgesFrom(id, edges.get(id))),
    ends: [...ends.values()].toSorted((a, b) => byText(a.node, b.node) || byText(a.reason, b.reason)),
    canonical: Object.fromEntries(first.map((trace) => [trace.probeResult.probe, canonicalPath(trace)])),
  };
}

/** Adds the nodes of a search for all paths, which is untrusted, except those to which no links lead from the probe. */
function addBranches(
  nodes: Map<string, Draft>,
  edges: Edges,
  { branching, steps, probeResult: { probe } }: Trace,
  targets: ReadonlySet<string>,
): void {
  const routers = new Map(steps.flatMap((step) => step.routers.map((router) => [router.ip, router] as const)));
  const branches = branchesOf(branching, `probe:${probe}`);
  const reached = reachedFrom(`probe:${probe}`, branches);
  for (const { id, ip, kind, hop, before, balances } of branching) {
    if (!reached.has(id)) continue;
    const name = routers.get(ip ?? '') ?? { ip: ip ?? '', hostname: null, asn: null, asName: null, rttMin: null };
    const isSilent = kind === 'silent';
    const node =
      ip === null
        ? { ...blank(id), kind: isSilent ? ('silent' as const) : ('private' as const) }
        : named(id, name, targets);
    const rttMin = before.reduce<number | null>((rtt, link) => least(rtt, link.rttMin), null);
    addNode(nodes, balances === null ? node : { ...node, balances }, probe, hop, rttMin);
  }
  for (const { from, to, isInferred, ...packets } of branches) {
    if (reached.has(from)) addEdge(edges, from, to, probe, isInferred, packets.sent === 0 ? undefined : packets);
  }
}

/** Hops of a flow up to its last answer, and with `hasTail` one more for the silence beyond it. */
function placesOf(steps: readonly Step[], own: NodeIds, hasTail: boolean): readonly Place[] {
  const known = answeredOf(steps);
  const places = known.map((step, index) => ({ step, ids: idsOf(known, index, own) }));
  const beyond = steps[known.length];
  if (beyond === undefined || !hasTail) return places;
  const before = places.at(-1)?.ids[0] ?? own.start;
  return [...places, { step: beyond, ids: [`silent:${before}|`] }];
}

function answeredOf(steps: readonly Step[]): readonly Step[] {
  return steps.slice(0, steps.findLastIndex((step) => !isSilent(step)) + 1);
}

function idsOf(steps: readonly Step[], index: number, { start, addressId }: NodeIds): readonly string[] {
  const step = steps[index]!;
  if (step.routers.length > 0) return step.routers.map(({ ip }) => addressId(ip));
  const isNamed = ({ routers }: Step): boolean => routers.length > 0;
  const before = steps.slice(0, index).findLastIndex(isNamed);
  const beyond = steps.slice(index).findIndex(isNamed);
  const after = beyond === -1 ? steps.length : index + beyond;
  const from = before === -1 ? start : addressId(steps[before]!.routers[0]!.ip);
  const to = after === steps.length ? '' : addressId(steps[after]!.routers[0]!.ip);
  return [`${step.isPrivate ? 'private' : 'silent'}:${from}|${to}|${index - before}/${after - before - 1}`];
}

/**
 * Links two hops of one flow. Of several routers at a hop it is unknown which leads on: the most frequent one is linked
 * to all routers of the later hop, the others to the most frequent one there. No node links to itself.
 */
function addEdges(
  edges: Edges,
  from: readonly string[],
  to: readonly string[],
  probe: string,
  isInferred: boolean,
): void {
  const pairs = [...to.map((id) => [from[0]!, id] as const), ...from.slice(1).map((id) => [id, to[0]!] as const)];
  for (const [a, b] of pairs) {
    if (a !== b) addEdge(edges, a, b, probe, isInferred, undefined);
  }
}

function blank(id: string): Draft['node'] {
  return { id, kind: 'silent', ip: null, hostname: null, asn: null, asName: null };
}

function nodeOf(id: string, step: Step, router: Router | undefined, targets: ReadonlySet<string>): Draft['node'] {
  if (router === undefined) return { ...blank(id), kind: step.isPrivate ? 'private' : 'silent' };
  return named(id, router, targets);
}

function named(id: string, { ip, hostname, asn, asName }: Router, targets: ReadonlySet<string>): Draft['node'] {
  const text = (name: string | null): string | null => (name === null ? null : safeText(name, 256));
  const kind = targets.has(ip) ? 'target' : 'router';
  return { id, kind, ip: safeText(ip, 45), hostname: text(hostname), asn, asName: text(asName) };
}

/** Node at which a probe's path ends. */
function endOf(trace: Trace, own: NodeIds): Omit<PathEnd, 'probes'> {
  const reason = endReason(trace);
  if (reason === 'reached' && trace.target !== null && targetIndex(trace) !== undefined) {
    return { node: own.addressId(trace.target), reason };
  }
  const [entry] = circleOf(trace);
  const index =
    reason === 'loop' ? trace.steps.findIndex(({ hop }) => hop === entry?.hop) : answeredOf(trace.steps).length - 1;
  if (trace.branching.length > 0) return { node: lastId(trace, trace.steps[index], own) ?? own.start, reason };
  const route = trace.routes.toSorted((a, b) => answeredOf(b.steps).length - answeredOf(a.steps).length)[0];
  const known = answeredOf(route?.steps ?? []);
  // A router that refused the packets of a later hop is not at that hop.
  const last = Math.min(index, known.length - 1);
  return { node: last < 0 ? own.start : idsOf(known, last, own)[0]!, reason };
}

/** True if a router of this path refused the packets to the hop after the last answer: then no silent hop follows. */
function isRefused({ steps, isReached }: Route): boolean {
  const known = answeredOf(steps);
  const from = steps[known.length]?.icmp?.from;
  return (
    !isReached &&
    from !== undefined &&
    from !== null &&
    known.some(({ routers }) => routers.some(({ ip }) => ip === from))
  );
}

function lastId({ branching }: Trace, step: Step | undefined, { addressId }: NodeIds): string | undefined {
  const [router] = step?.routers ?? [];
  if (router !== undefined) return addressId(router.ip);
  return branching.find(({ hop, kind }) => hop === step?.hop && kind !== 'silent')?.id;
}

function deadEndOf({ steps, refusal }: Route, own: NodeIds): Omit<PathEnd, 'probes'> {
  const known = answeredOf(steps);
  return { node: idsOf(known, known.length - 1, own)[0]!, reason: refusal === null ? 'silent' : 'refused' };
}
