import type { PathEdge, PathEnd, PathNode, Paths } from '@vantage/contract';

import { byText } from '../probe-result.ts';
import { canonicalPath } from './canonical.ts';
import { deadWays } from './dead-ways.ts';
import { circleOf, endReason } from './ends.ts';
import { isSilent, targetIndex, type Router, type Step, type Trace, type Way } from './trace.ts';
import { shown } from '../words.ts';

/** A hop of one path with its nodes; the first one leads to the next hop. */
interface Place {
  readonly step: Step;
  readonly ids: readonly string[];
}

interface Draft {
  readonly node: Omit<PathNode, 'probes' | 'hopMin' | 'hopMax' | 'rttMin'>;
  readonly probes: Set<string>;
  hopMin: number;
  hopMax: number;
  rttMin: number | null;
}

/**
 * Merges paths. A router is one node in all paths. A hop without an address is shared by two paths if it has the same
 * neighbouring addresses and the same position between them.
 */
export function mergePaths(traces: readonly Trace[]): Paths {
  const nodes = new Map<string, Draft>();
  const edges: Edges = new Map();
  const ends = new Map<string, PathEnd & { readonly probes: string[] }>();
  const targets = new Set(traces.flatMap(({ target }) => target ?? []));
  for (const trace of traces) {
    const { probe } = trace.probeResult;
    const start = `probe:${probe}`;
    addNode(nodes, { ...blank(start), kind: 'probe' }, probe, 0, null);
    const dead = deadWays(trace);
    for (const way of trace.ways) {
      const hasTail = trace.isFinal && (trace.isReached ? dead.includes(way) : !way.isReached);
      const places = placesOf(way.steps, start, hasTail);
      for (const { step, ids } of places) {
        for (const [index, id] of ids.entries()) {
          const router = step.routers[index];
          addNode(nodes, nodeOf(id, step, router, targets), probe, step.hop, router?.rttMin ?? step.rttMin);
        }
      }
      let from: readonly string[] = [start];
      for (const { ids } of places) {
        addEdges(edges, from, ids, probe);
        from = ids;
      }
    }
    for (const end of [endOf(trace, start), ...dead.map((way) => deadEndOf(way, start))]) {
      // Reports are untrusted and may be inconsistent: hops that no flow has.
      const node = nodes.has(end.node) ? end.node : start;
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
    canonical: Object.fromEntries(traces.map((trace) => [trace.probeResult.probe, canonicalPath(trace)])),
  };
}

/** Hops of a flow up to its last answer, plus one for the silence beyond, if it ends there. */
function placesOf(steps: readonly Step[], start: string, hasTail: boolean): readonly Place[] {
  const known = answeredOf(steps);
  const places = known.map((step, index) => ({ step, ids: idsOf(known, index, start) }));
  const beyond = steps[known.length];
  if (beyond === undefined || !hasTail) return places;
  const before = places.at(-1)?.ids[0] ?? start;
  return [...places, { step: beyond, ids: [`silent:${before}|`] }];
}

function answeredOf(steps: readonly Step[]): readonly Step[] {
  return steps.slice(0, steps.findLastIndex((step) => !isSilent(step)) + 1);
}

function idsOf(steps: readonly Step[], index: number, start: string): readonly string[] {
  const step = steps[index]!;
  if (step.routers.length > 0) return step.routers.map(({ ip }) => routerId(ip));
  const isNamed = ({ routers }: Step): boolean => routers.length > 0;
  const before = steps.slice(0, index).findLastIndex(isNamed);
  const beyond = steps.slice(index).findIndex(isNamed);
  const after = beyond === -1 ? steps.length : index + beyond;
  const from = before === -1 ? start : routerId(steps[before]!.routers[0]!.ip);
  const to = after === steps.length ? '' : routerId(steps[after]!.routers[0]!.ip);
  return [`${step.isPrivate ? 'private' : 'silent'}:${from}|${to}|${index - before}/${after - before - 1}`];
}

function routerId(ip: string): string {
  return `ip:${shown(ip, 45)}`;
}

type Edges = Map<string, Map<string, { readonly probes: Set<string>; isInferred: boolean }>>;

/**
 * Links two hops of one flow. If several routers answered at a hop, which one leads on is unknown: the most frequent
 * one is linked to all of the other hop. No node links to itself.
 */
function addEdges(edges: Edges, from: readonly string[], to: readonly string[], probe: string): void {
  const isInferred = from.length > 1;
  const pairs = [...to.map((id) => [from[0]!, id] as const), ...from.slice(1).map((id) => [id, to[0]!] as const)];
  for (const [a, b] of pairs) {
    if (a === b) continue;
    const out = edges.get(a) ?? new Map<string, { probes: Set<string>; isInferred: boolean }>();
    const edge = out.get(b) ?? { probes: new Set(), isInferred };
    edge.probes.add(probe);
    edge.isInferred &&= isInferred;
    edges.set(a, out.set(b, edge));
  }
}

function blank(id: string): Draft['node'] {
  return { id, kind: 'silent', ip: null, hostname: null, asn: null, asName: null };
}

function nodeOf(id: string, step: Step, router: Router | undefined, targets: ReadonlySet<string>): Draft['node'] {
  if (router === undefined) return { ...blank(id), kind: step.isPrivate ? 'private' : 'silent' };
  const { ip, hostname, asn, asName } = router;
  const text = (name: string | null): string | null => (name === null ? null : shown(name, 256));
  const kind = targets.has(ip) ? 'target' : 'router';
  return { id, kind, ip: shown(ip, 45), hostname: text(hostname), asn, asName: text(asName) };
}

/** Names are taken from the first path that has one; paths are in order of probes. */
function addNode(nodes: Map<string, Draft>, node: Draft['node'], probe: string, hop: number, rtt: number | null): void {
  const seen = nodes.get(node.id);
  if (seen === undefined) {
    nodes.set(node.id, { node, probes: new Set([probe]), hopMin: hop, hopMax: hop, rttMin: rtt });
    return;
  }
  seen.probes.add(probe);
  const { hostname, asn, asName } = seen.node;
  const named = { ...seen.node, hostname: hostname ?? node.hostname };
  nodes.set(node.id, {
    probes: seen.probes,
    node: asn === null ? { ...named, asn: node.asn, asName: node.asName } : { ...named, asName },
    hopMin: Math.min(seen.hopMin, hop),
    hopMax: Math.max(seen.hopMax, hop),
    rttMin: seen.rttMin === null ? rtt : Math.min(seen.rttMin, rtt ?? seen.rttMin),
  });
}

function finished({ node, probes, hopMin, hopMax, rttMin }: Draft): PathNode {
  return { ...node, rttMin, hopMin, hopMax, probes: [...probes] };
}

function edgesFrom(from: string, out: ReturnType<Edges['get']>): readonly PathEdge[] {
  return [...(out ?? [])]
    .toSorted(([a], [b]) => byText(a, b))
    .map(([to, { probes, isInferred }]) => ({
      from,
      to,
      probes: [...probes],
      ...(isInferred ? { inferred: true } : {}),
    }));
}

/** Node at which a probe's path ends. */
function endOf(trace: Trace, start: string): Omit<PathEnd, 'probes'> {
  const reason = endReason(trace);
  if (reason === 'reached' && trace.target !== null && targetIndex(trace) !== undefined) {
    return { node: routerId(trace.target), reason };
  }
  const [entry] = circleOf(trace);
  const index =
    reason === 'loop' ? trace.steps.findIndex((step) => step === entry) : answeredOf(trace.steps).length - 1;
  const way = trace.ways.find(({ steps }) => steps[index] !== undefined && !isSilent(steps[index]));
  return { node: way === undefined ? start : idsOf(answeredOf(way.steps), index, start)[0]!, reason };
}

function deadEndOf({ steps }: Way, start: string): Omit<PathEnd, 'probes'> {
  const known = answeredOf(steps);
  return { node: idsOf(known, known.length - 1, start)[0]!, reason: known.at(-1)?.icmp ? 'refused' : 'silent' };
}
