import type { Vertex } from './vertex.ts';
import type { Ask, Survey } from './survey.ts';

/** Bits of evidence required to conclude that a balancer keeps the packets of a flow together. */
const BITS = 6;
/** Bits of evidence required if the packets of a flow have already got different answers. */
const BITS_IF_PACKETWISE = 12;
/** Repeats of a flow past one router before new flows are probed. */
const EARLY_REPEATS = 2;
/**
 * Changes between the answers to one flow behind a vertex from which it counts as a per-packet balancer. A route change
 * during the search changes the answers to each flow only once.
 */
const CHANGES = 2;
/** Packets to a per-packet balancer itself: a second router at its hop would be missed in one of 2^15 cases. */
const PACKETS_AT_OWN_HOP = 16;

export type BalancerKind = 'flow' | 'packet' | 'unknown';

/** How a vertex balances among its successors. */
export function kindOfBalancer(vertex: Vertex): BalancerKind {
  if (vertex.isPacketwise) return vertex.changes >= CHANGES ? 'packet' : 'unknown';
  return vertex.repeats + consistentBeyond(vertex) >= wantedRepeats(vertex, BITS) ? 'flow' : 'unknown';
}

/**
 * Packets that repeat a flow, to distinguish per-packet from per-flow balancers, past the first vertex that needs some.
 * With `all`, they are past `vertices`. With `crossed`, they are past those parents of `vertices` that seem to balance
 * per packet or whose next links seem to cross, and past the next vertices of parents with crossing links: if such a
 * parent balances per packet, repeats there get different answers too.
 */
export function kindAsks(survey: Survey, vertices: readonly Vertex[], which: 'crossed' | 'all'): readonly Ask[] {
  const before = vertices.flatMap((vertex) => [...vertex.parents]);
  const crossed = before.filter((vertex) => vertex.isPacketwise || hasCrossedLinks(vertex));
  const beyond = crossed.filter(({ isPacketwise }) => !isPacketwise).flatMap(({ next }) => [...next.keys()]);
  const parents = new Set(which === 'all' ? vertices : [...crossed, ...beyond]);
  for (const vertex of parents) {
    const own = asksAtOwnHop(survey, vertex);
    if (own.length > 0) return own;
    const count = missingRepeats(vertex, beyond.includes(vertex));
    const slot = count > 0 ? repeatable(survey, vertex) : undefined;
    if (slot !== undefined) return Array.from({ length: count }, () => slot);
  }
  return [];
}

/**
 * Repeats a known flow past each router after which several answers, or silence, were seen, before new flows are
 * probed: if a router turns out to balance per packet, its next hops are sought with that flow.
 */
export function earlyAsks(survey: Survey, vertices: readonly Vertex[]): readonly Ask[] {
  return vertices.flatMap((vertex) => {
    if (vertex.kind !== 'router' || vertex.isPacketwise || vertex.seenNext.size < 2) return [];
    const wanted = Math.min(EARLY_REPEATS, wantedRepeats(vertex, BITS)) - vertex.repeats;
    const slot = wanted > 0 ? repeatable(survey, vertex) : undefined;
    return slot === undefined ? [] : Array.from({ length: wanted }, () => slot);
  });
}

/**
 * Packets to the hop of a router that seems to balance per packet. Another router may answer them: then a balancer
 * before the hop explains the changes. If all known flows pass the router, new flows are sent, which that balancer may
 * distribute.
 */
function asksAtOwnHop({ slots, at, sole, flows }: Survey, vertex: Vertex): readonly Ask[] {
  if (!vertex.isPacketwise || vertex.kind !== 'router') return [];
  const { ttl } = vertex;
  const here = [...slots.values()].flatMap((own) => own.get(ttl) ?? []).filter(({ flow }) => at(flow, ttl) === vertex);
  const counted = here.flatMap(({ packets }) => packets.filter((packet) => packet.isRefused !== true));
  const missing = PACKETS_AT_OWN_HOP - counted.length;
  if (here.length === 0 || missing <= 0) return [];
  if (sole(ttl) !== vertex)
    return Array.from({ length: missing }, (_, index) => ({ flow: here[index % here.length]!.flow, ttl }));
  const isProbed = (flow: number): boolean => slots.get(flow)?.has(ttl) === true;
  const beyond = [...slots].flatMap(([flow, own]) => (own.has(ttl + 1) && !isProbed(flow) ? [flow] : []));
  const fresh = Array.from({ length: missing }, (_, index) => flows + index);
  return [...beyond, ...fresh].slice(0, missing).map((flow) => ({ flow, ttl }));
}

function missingRepeats(vertex: Vertex, isBehindCrossed: boolean): number {
  const { kind, seenNext, isPacketwise, changes, repeats } = vertex;
  if (seenNext.size < 2 || (kind !== 'router' && kind !== 'silence')) return 0;
  if (isPacketwise) return changes >= CHANGES ? 0 : Math.max(0, wantedRepeats(vertex, BITS_IF_PACKETWISE) - repeats);
  const other = isBehindCrossed || hasCrossedLinks(vertex) ? 0 : consistentBeyond(vertex);
  return Math.max(0, wantedRepeats(vertex, BITS) - repeats - other);
}

function wantedRepeats({ seenNext }: Vertex, bits: number): number {
  return Math.ceil(bits / Math.log2(Math.max(2, seenNext.size)));
}

/** True if two of the successors share at least two successors. */
function hasCrossedLinks({ next }: Vertex): boolean {
  const sets = [...next.keys()].map(({ seenNext }) => new Set(seenNext.keys())).filter(({ size }) => size > 1);
  return sets.some((one, index) =>
    sets.slice(index + 1).some((other) => [...one].filter((seen) => other.has(seen)).length > 1),
  );
}

/**
 * Number of flows behind the successors that continued like the first flow there; 0 unless each successor leads to a
 * different vertex.
 */
function consistentBeyond({ next }: Vertex): number {
  const vertices = [...next.keys()].filter(({ samples }) => samples > 0);
  const beyond = vertices.flatMap(({ seenNext }) => [...seenNext.keys()]);
  const isParallel =
    vertices.length > 1 && new Set(beyond).size === vertices.length && beyond.length === vertices.length;
  return isParallel ? vertices.reduce((sum, { samples }) => sum + samples - 1, 0) : 0;
}

/** The most often repeated flow that passes the vertex and was answered at the hop after it. */
function repeatable(survey: Survey, vertex: Vertex): Ask | undefined {
  const slots = [...survey.slots.values()].flatMap((own) => [...own.values()]);
  const own = slots.filter(
    ({ flow, ttl, packets }) => survey.at(flow, ttl - 1) === vertex && packets.some(({ answer }) => answer !== null),
  );
  const [most] = own.toSorted((a, b) => b.packets.length - a.packets.length);
  return most && { flow: most.flow, ttl: most.ttl };
}
