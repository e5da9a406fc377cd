/**
 * A vertex of the graph of paths: the probe, a router, the silence after a vertex, the end of a path, or (`cloud`) all
 * successors of a per-packet balancer together, because no flow reaches one of them reliably.
 */
export interface Vertex {
  readonly key: string;
  readonly kind: 'probe' | 'router' | 'silence' | 'end' | 'cloud';
  /** The lowest TTL at which it was seen. */
  readonly ttl: number;
  /** What was seen there: addresses, answers that end the path, or silence. Several only for a `cloud`. */
  readonly seen: Set<string>;
  /** Number of consecutive silent hops up to here. */
  readonly silence: number;
  readonly parents: Set<Vertex>;
  /**
   * The successors, each with the number of flows that lead there; after a per-packet balancer, the number of packets.
   */
  readonly next: Map<Vertex, number>;
  /** Number of packets per answer at the next hop; a flow without any answer there counts once, as silence. */
  readonly seenNext: Map<string, number>;
  /** Number of flows probed at the next hop; of packets, if they are balanced per packet. */
  samples: number;
  /** Number of further answers of flows that already had one at the next hop. */
  repeats: number;
  /** True if the packets of one flow got different answers at the next hop. */
  isPacketwise: boolean;
  /** Number of changes between successive answers to one flow at the next hop: the maximum over the flows. */
  changes: number;
}

export function newVertex(key: string, kind: Vertex['kind'], ttl: number, silence: number): Vertex {
  return {
    key,
    kind,
    ttl,
    silence,
    seen: new Set(),
    parents: new Set(),
    next: new Map(),
    seenNext: new Map(),
    samples: 0,
    repeats: 0,
    isPacketwise: false,
    changes: 0,
  };
}

/** True for a per-packet balancer, and for the `cloud` of its successors. */
export function isByPacket({ kind, isPacketwise }: Vertex): boolean {
  return kind === 'cloud' || isPacketwise;
}

/** Notes the changes between successive answers to one flow at the next hop. */
export function countChanges(parent: Vertex, answers: readonly string[]): void {
  const changes = answers.slice(1).filter((answer, index) => answer !== answers[index]).length;
  if (changes === 0 || parent.kind === 'cloud') return;
  parent.isPacketwise = true;
  parent.changes = Math.max(parent.changes, changes);
}
