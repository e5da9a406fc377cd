import type { PathEdge, PathNode } from '@vantage/contract';

import { byText } from '../probe-result.ts';
import { least } from './multipath/branches.ts';

/** A node of the merged graph under construction. */
export interface Draft {
  readonly node: Omit<PathNode, 'probes' | 'hopMin' | 'hopMax' | 'rttMin'>;
  readonly probes: Set<string>;
  hopMin: number;
  hopMax: number;
  rttMin: number | null;
}

type Packets = Pick<PathEdge, 'sent' | 'received' | 'rttMin'>;
/** Edges by the ids of both nodes. */
export type Edges = Map<string, Map<string, EdgeDraft>>;

interface EdgeDraft {
  readonly probes: Set<string>;
  isInferred: boolean;
  packets: Packets | undefined;
}

export function addEdge(
  edges: Edges,
  from: string,
  to: string,
  probe: string,
  isInferred: boolean,
  packets: Packets | undefined,
): void {
  const out = edges.get(from) ?? new Map<string, EdgeDraft>();
  const edge = out.get(to) ?? { probes: new Set(), isInferred, packets: undefined };
  edge.probes.add(probe);
  edge.isInferred &&= isInferred;
  edge.packets = packets === undefined ? edge.packets : sumOf(edge.packets, packets);
  edges.set(from, out.set(to, edge));
}

function sumOf(a: Packets | undefined, b: Packets): Packets {
  if (a === undefined) return b;
  return {
    sent: (a.sent ?? 0) + (b.sent ?? 0),
    received: (a.received ?? 0) + (b.received ?? 0),
    rttMin: least(a.rttMin ?? null, b.rttMin ?? null),
  };
}

/**
 * Adds a node, or merges the probe, hop and time of another path into a known one. Name and network are those of the
 * first path that has them.
 */
export function addNode(
  nodes: Map<string, Draft>,
  node: Draft['node'],
  probe: string,
  hop: number,
  rtt: number | null,
): void {
  const seen = nodes.get(node.id);
  if (seen === undefined) {
    nodes.set(node.id, { node, probes: new Set([probe]), hopMin: hop, hopMax: hop, rttMin: rtt });
    return;
  }
  seen.probes.add(probe);
  const { hostname, asn, asName } = seen.node;
  const balances = balancesOf(seen.node.balances, node.balances);
  const named = { ...seen.node, ...(balances && { balances }), hostname: hostname ?? node.hostname };
  nodes.set(node.id, {
    probes: seen.probes,
    node: asn === null ? { ...named, asn: node.asn, asName: node.asName } : { ...named, asName },
    hopMin: Math.min(seen.hopMin, hop),
    hopMax: Math.max(seen.hopMax, hop),
    rttMin: seen.rttMin === null ? rtt : Math.min(seen.rttMin, rtt ?? seen.rttMin),
  });
}

/** Kind of a router that several probes found to balance; `unknown` if they disagree. */
function balancesOf(a: PathNode['balances'], b: PathNode['balances']): PathNode['balances'] {
  const known = [a, b].filter((kind) => kind !== undefined && kind !== 'unknown');
  return new Set(known).size === 2 ? 'unknown' : (known[0] ?? a ?? b);
}

export function finished({ node, probes, hopMin, hopMax, rttMin }: Draft): PathNode {
  return { ...node, rttMin, hopMin, hopMax, probes: [...probes] };
}

export function edgesFrom(from: string, out: ReturnType<Edges['get']>): readonly PathEdge[] {
  return [...(out ?? [])]
    .toSorted(([a], [b]) => byText(a, b))
    .map(([to, { probes, isInferred, packets }]) => ({
      from,
      to,
      probes: [...probes],
      ...(isInferred ? { inferred: true } : {}),
      ...packets,
    }));
}
