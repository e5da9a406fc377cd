import type { TracePacket } from '../probing/trace.ts';
import { kindOfBalancer, type BalancerKind } from './kinds.ts';
import { answersIn, seenAs, SILENT } from './slots.ts';
import type { Vertex } from './vertex.ts';
import type { Survey } from './survey.ts';

export interface GraphNode {
  readonly key: string;
  /** What was seen there: an address that answered, an answer that ends the path (`isEnd`), or `SILENT`. */
  readonly seen: string;
  ttl: number;
  /** How it chooses among its next hops; null if at most one is known, or if it is behind a per-packet balancer. */
  balances: BalancerKind | null;
}

export interface GraphLink {
  readonly from: string;
  readonly to: string;
  readonly flows: Set<number>;
  /** Packets whose TTL ends at the far end of the link. */
  readonly packets: TracePacket[];
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly links: readonly GraphLink[];
}

/** Key of the probe itself. */
export const PROBE = 'probe';

/**
 * Nodes and links that packets took. Links between two hops behind a per-packet balancer are absent unless one of
 * them is a single router: nothing reveals which router leads to which.
 */
export function graphOf(survey: Survey): Graph {
  const nodes = new Map<string, GraphNode>();
  const links = new Map<string, GraphLink>();
  const add = (from: string, to: string): GraphLink => {
    const key = `${from} ${to}`;
    const link = links.get(key) ?? { from, to, flows: new Set(), packets: [] };
    links.set(key, link);
    return link;
  };
  for (const vertex of [survey.probe, ...survey.vertices].toSorted((a, b) => a.ttl - b.ttl)) {
    for (const seen of vertex.seen) noteNode(nodes, vertex, seen);
    for (const next of vertex.next.keys()) {
      if (vertex.kind === 'cloud' && next.kind === 'cloud') continue;
      for (const from of keysOf(vertex)) {
        for (const to of keysOf(next)) if (from !== to) add(from, to);
      }
    }
  }
  addPackets(survey, links);
  return { nodes: [...nodes.values()], links: [...links.values()] };
}

function noteNode(nodes: Map<string, GraphNode>, vertex: Vertex, seen: string): void {
  const key = keyOf(vertex, seen);
  const node = nodes.get(key) ?? { key, seen, ttl: vertex.ttl, balances: null };
  nodes.set(key, node);
  if (vertex.kind !== 'cloud' && vertex.seenNext.size > 1) node.balances = kindOfBalancer(vertex);
}

function keysOf(vertex: Vertex): readonly string[] {
  return vertex.kind === 'probe' ? [PROBE] : [...vertex.seen].map((seen) => keyOf(vertex, seen));
}

function keyOf(vertex: Vertex, seen: string): string {
  if (seen !== SILENT) return seen;
  return vertex.kind === 'silence' ? vertex.key : `${SILENT}${vertex.key}`;
}

/** Attributes each packet to the link over which it reached the hop of its TTL, if that link is known. */
function addPackets({ slots, at }: Survey, links: ReadonlyMap<string, GraphLink>): void {
  for (const own of slots.values()) {
    for (const slot of own.values()) {
      const [before, here] = [at(slot.flow, slot.ttl - 1), at(slot.flow, slot.ttl)];
      if (before === undefined || here === undefined || before.kind === 'cloud') continue;
      const isSilent = answersIn(slot).length === 0;
      for (const packet of slot.packets) {
        const { answer } = packet;
        const [from] = keysOf(before);
        // A lost packet of a flow that is balanced per packet may have taken any link.
        if (answer === null && !isSilent && here.kind === 'cloud') continue;
        const to = answer === null && here.kind !== 'cloud' ? keysOf(here)[0]! : answer === null ? '' : seenAs(answer);
        const link = links.get(`${from} ${to}`);
        link?.packets.push(packet);
        link?.flows.add(slot.flow);
      }
    }
  }
}
