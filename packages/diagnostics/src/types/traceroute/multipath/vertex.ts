/**
 * A vertex of the graph of paths: a router, silence after one, an end, or the next hops of a per-packet balancer, which no
 * flow can address individually.
 */
export interface Vertex {
  readonly key: string;
  readonly kind: 'probe' | 'router' | 'silence' | 'end' | 'cloud';
  /** The lowest TTL at which it was seen. */
  readonly ttl: number;
  /** Answers received there; several for the next hops of a per-packet balancer. */
  readonly seen: Set<string>;
  /** Number of consecutive silent hops up to here. */
  readonly silence: number;
  readonly parents: Set<Vertex>;
  /** The next vertices, with the flows that lead there; of a cloud, their packets. */
  readonly next: Map<Vertex, number>;
  /** Packets per address that answered at the next hop. */
  readonly seenNext: Map<string, number>;
  /** Flows probed beyond it, or packets if they are balanced per packet. */
  samples: number;
  /** Further packets of flows that were already probed beyond it. */
  repeats: number;
  /** True if one flow got different answers beyond it. */
  isPacketwise: boolean;
  /** Number of changes in the answers to one flow. */
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

/** Records that the answers to one flow beyond the vertex differed. */
export function countChanges(parent: Vertex, answers: readonly string[]): void {
  const changes = answers.slice(1).filter((answer, index) => answer !== answers[index]).length;
  if (changes === 0 || parent.kind === 'cloud') return;
  parent.isPacketwise = true;
  parent.changes += changes;
}
