import type { PathEdge, PathEnd, PathNode, Paths } from '@vantage/contract';

import { byText } from '../report.ts';
import { circleOf, reasonOf } from './ends.ts';
import { isSilent, type Router, type Step, type Trace } from './trace.ts';
import { shown } from '../words.ts';

/** A hop of one path with the nodes that stand for it, the one on the way to the next hop first. */
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
 * Merges paths. A router is one node wherever it is seen. A hop without an address is the same node in two paths if it
 * has the same neighbours with an address and the same position between them.
 */
export function mergePaths(traces: readonly Trace[]): Paths {
  const nodes = new Map<string, Draft>();
  const edges = new Map<string, Map<string, Set<string>>>();
  const ends = new Map<string, PathEnd & { readonly probes: string[] }>();
  const targets = new Set(traces.flatMap(({ target }) => target ?? []));
  for (const trace of traces) {
    const { probe } = trace.report;
    const places = placesOf(trace);
    const start = `probe:${probe}`;
    addNode(nodes, { ...blank(start), kind: 'probe' }, probe, 0, null);
    for (const { step, ids } of places) {
      for (const [index, id] of ids.entries()) {
        const router = step.routers[index];
        addNode(nodes, nodeOf(id, step, router, targets), probe, step.hop, router?.rttMin ?? step.rttMin);
      }
    }
    let from: readonly string[] = [start];
    for (const { ids } of places) {
      for (const [a, b] of crossings(from, ids)) {
        const out = edges.get(a) ?? new Map<string, Set<string>>();
        edges.set(a, out.set(b, (out.get(b) ?? new Set()).add(probe)));
      }
      from = ids;
    }
    const end = endOf(trace, places, start);
    const key = `${end.reason} ${end.node}`;
    ends.set(key, { ...end, probes: [...(ends.get(key)?.probes ?? []), probe] });
  }
  const sorted = [...nodes.values()].map(finished).toSorted((a, b) => a.hopMin - b.hopMin || byText(a.id, b.id));
  return {
    nodes: sorted,
    edges: sorted.flatMap(({ id }) => edgesFrom(id, edges.get(id))),
    ends: [...ends.values()].toSorted((a, b) => byText(a.node, b.node) || byText(a.reason, b.reason)),
  };
}

/** The hops of a path up to its last answer, and one more for all the silence beyond it. */
function placesOf(trace: Trace): readonly Place[] {
  const { steps, isFinal, isReached } = trace;
  const last = steps.findLastIndex((step) => !isSilent(step));
  const known = steps.slice(0, last + 1);
  const start = `probe:${trace.report.probe}`;
  const places = known.map((step, index) => ({ step, ids: idsOf(known, index, start) }));
  const beyond = steps[last + 1];
  if (beyond === undefined || !isFinal || isReached) return places;
  const before = places.at(-1)?.ids[0] ?? start;
  return [...places, { step: beyond, ids: [`silent:${before}|`] }];
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

/** Between two hops: from the first router of each to all of the other. No node leads to itself. */
function crossings(from: readonly string[], to: readonly string[]): readonly (readonly [string, string])[] {
  const pairs = [...to.map((id) => [from[0]!, id] as const), ...from.slice(1).map((id) => [id, to[0]!] as const)];
  return pairs.filter(([a, b]) => a !== b);
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

/** The first path that knows a name of a router gives it: paths come in the order of the probes. */
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

function edgesFrom(from: string, out: ReadonlyMap<string, ReadonlySet<string>> | undefined): readonly PathEdge[] {
  return [...(out ?? [])]
    .toSorted(([a], [b]) => byText(a, b))
    .map(([to, probes]) => ({ from, to, probes: [...probes] }));
}

function endOf(trace: Trace, places: readonly Place[], start: string): Omit<PathEnd, 'probes'> {
  const reason = reasonOf(trace);
  const answered = places.findLast(({ step }) => !isSilent(step));
  const [entry] = circleOf(trace);
  const at = reason === 'loop' ? places.find(({ step }) => step === entry) : answered;
  const own = trace.target === null ? undefined : routerId(trace.target);
  const node = reason === 'reached' ? at?.ids.find((id) => id === own) : undefined;
  return { node: node ?? at?.ids[0] ?? start, reason };
}
