/**
 * A place on the paths: a router, silence behind a node, an end, or what a per-packet balancer chooses from, whose members
 * cannot be addressed by a flow.
 */
export interface Place {
  readonly key: string;
  readonly kind: 'probe' | 'router' | 'silence' | 'end' | 'cloud';
  /** The lowest TTL at which it was seen. */
  readonly ttl: number;
  /** Answers seen there: more than one of a cloud. */
  readonly seen: Set<string>;
  /** Hops of silence up to here. */
  readonly silence: number;
  readonly parents: Set<Place>;
  /** The next places, with the flows that lead there; of a cloud, their packets. */
  readonly next: Map<Place, number>;
  /** Packets per address that answered at the next hop. */
  readonly seenNext: Map<string, number>;
  /** Flows asked beyond it, or packets if they are balanced packet by packet. */
  samples: number;
  /** Packets that asked again what a flow finds beyond it. */
  repeats: number;
  /** True if one flow found different answers beyond it. */
  isPacketwise: boolean;
  /** Times that the answers to one flow changed. */
  changes: number;
}

export function newPlace(key: string, kind: Place['kind'], ttl: number, silence: number): Place {
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

/** Notes that the answers to one flow beyond the place were not all the same. */
export function countChanges(parent: Place, answers: readonly string[]): void {
  const changes = answers.slice(1).filter((answer, index) => answer !== answers[index]).length;
  if (changes === 0 || parent.kind === 'cloud') return;
  parent.isPacketwise = true;
  parent.changes += changes;
}
