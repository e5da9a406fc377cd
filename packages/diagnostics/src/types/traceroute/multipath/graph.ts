import type { TracePacket } from '../probing/trace.ts';
import { doubtfulLinks } from './doubtful-links.ts';
import { kindOfBalancer, type BalancerKind } from './kinds.ts';
import { addressIn, answersIn, isOfTarget, seenAs, SILENT } from './slots/slots.ts';
import type { Vertex } from './vertex.ts';
import type { Survey } from './survey.ts';

export interface GraphNode {
  readonly key: string;
  /** What was seen there: an address that answered, an answer that ends the path (`isEnd`), or `SILENT`. */
  readonly seen: string;
  ttl: number;
  /** How it balances among its successors; null if at most one is known, or if it is behind a per-packet balancer. */
  balances: BalancerKind | null;
  /** True for a router that refuses the packets of all flows beyond its own hop. */
  isRefusing: boolean;
}

export interface GraphLink {
  readonly from: string;
  readonly to: string;
  readonly flows: Set<number>;
  /** Packets whose TTL ends at the far end of the link. */
  readonly packets: TracePacket[];
  /** True if the link is not proved: a silent router may be at one of its hops. */
  readonly isDoubtful: boolean;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly links: readonly GraphLink[];
  /** Key of the node of a flow at a TTL; undefined if unknown. */
  readonly keyAt: (flow: number, ttl: number) => string | undefined;
}

/** Key of the probe itself. */
export const PROBE = 'probe';

/**
 * Nodes and links that packets took. Links between two hops behind a per-packet balancer are absent unless one of them
 * is a single router: nothing reveals which router leads to which. If packets are lost at the hop of the single one, a
 * silent router may be there too, and its links are doubtful.
 */
export function graphOf(survey: Survey): Graph {
  const nodes = new Map<string, GraphNode>();
  const links = new Map<string, GraphLink>();
  const keysOf = keysIn(survey);
  const isInDoubt = doubtfulLinks(survey);
  const add = (from: string, to: string, isDoubtful: boolean): void => {
    const key = `${from} ${to}`;
    const known = links.get(key);
    if (from === to || (known !== undefined && (isDoubtful || !known.isDoubtful))) return;
    links.set(key, { from, to, flows: new Set(), packets: [], isDoubtful });
  };
  for (const vertex of [survey.probe, ...survey.vertices].toSorted((a, b) => a.ttl - b.ttl)) {
    if (vertex.kind !== 'probe') noteNodes(nodes, vertex, keysOf(vertex));
    for (const next of vertex.next.keys()) {
      const isDoubtful = isInDoubt(vertex, next);
      if (vertex.kind === 'cloud' && next.kind === 'cloud') continue;
      for (const from of keysOf(vertex)) {
        for (const to of keysOf(next)) add(from, to, isDoubtful);
      }
    }
  }
  addPackets(survey, links, keysOf);
  const keyAt = (flow: number, ttl: number): string | undefined => {
    const vertex = survey.at(flow, ttl);
    if (vertex === undefined || vertex.kind === 'cloud') return undefined;
    const [key] = keysOf(vertex);
    // A router that refuses packets with a higher TTL is at its own hop only.
    return vertex.kind === 'end' && ttl > 1 && key === keyAt(flow, ttl - 1) ? undefined : key;
  };
  return { nodes: [...nodes.values()], links: [...links.values()], keyAt };
}

type KeysOf = (vertex: Vertex) => readonly string[];

/** Returns the keys of the nodes of a vertex. A router that refuses packets beyond its own hop is one node. */
function keysIn({ vertices }: Survey): KeysOf {
  const refusers = new Map<Vertex, Vertex>();
  for (const vertex of vertices) {
    const [seen] = vertex.seen;
    if (vertex.kind !== 'end' || isOfTarget(seen!)) continue;
    const isSame = (other: Vertex): boolean => other.kind === 'router' && other.seen.has(addressIn(seen!)!);
    const router = [...vertex.parents].find(isSame) ?? vertices.find(isSame);
    if (router !== undefined) refusers.set(vertex, router);
  }
  return (vertex) => {
    if (vertex.kind === 'cloud') return [...vertex.seen].map((seen) => keyInCloud(vertex, seen));
    return [(refusers.get(vertex) ?? vertex).key];
  };
}

function keyInCloud(cloud: Vertex, seen: string): string {
  return seen === SILENT ? `${SILENT}${cloud.key}` : seen;
}

function noteNodes(nodes: Map<string, GraphNode>, vertex: Vertex, keys: readonly string[]): void {
  const { kind, ttl, seen, next, seenNext } = vertex;
  for (const [index, one] of [...seen].entries()) {
    const key = keys[index]!;
    const node = nodes.get(key) ?? { key, seen: one, ttl, balances: null, isRefusing: false };
    nodes.set(key, node);
    if (kind === 'cloud') continue;
    node.isRefusing ||= next.size > 0 && [...next.keys()].every((beyond) => isRefusalOf(beyond, one));
    if (seenNext.size > 1) node.balances = kindOfBalancer(vertex);
  }
}

/** True for the end of paths at the router with this address because it refuses their packets. */
function isRefusalOf({ kind, seen }: Vertex, address: string): boolean {
  const [one] = seen;
  return kind === 'end' && !isOfTarget(one!) && addressIn(one!) === address;
}

/** Attributes each packet to the link over which it reached the hop of its TTL, if that link is known. */
function addPackets({ slots, at }: Survey, links: ReadonlyMap<string, GraphLink>, keysOf: KeysOf): void {
  for (const own of slots.values()) {
    for (const slot of own.values()) {
      const [before, here] = [at(slot.flow, slot.ttl - 1), at(slot.flow, slot.ttl)];
      if (before === undefined || here === undefined || before.kind === 'cloud') continue;
      const isSilent = answersIn(slot).length === 0;
      for (const packet of slot.packets) {
        const seen = packet.answer === null ? SILENT : seenAs(packet.answer);
        // A lost packet of a flow that is balanced per packet may have taken any link.
        if (seen === SILENT && !isSilent && here.kind === 'cloud') continue;
        const to = here.kind === 'cloud' ? keyInCloud(here, seen) : keysOf(here)[0];
        const link = links.get(`${keysOf(before)[0]} ${to}`);
        link?.packets.push(packet);
        link?.flows.add(slot.flow);
      }
    }
  }
}
