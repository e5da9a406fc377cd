import type { Place } from './place.ts';
import type { Ask, Survey } from './survey.ts';

/** Bits of evidence that a balancer keeps the packets of a flow together; more if it seems not to. */
const BITS = 6;
const BITS_IF_PACKETWISE = 12;
/** Packets that repeat a flow before further flows are probed: if they reveal a per-packet balancer, no further flow is needed. */
const EARLY_REPEATS = 2;
/** Changes of the answers to one flow that no change of the path explains. */
const CHANGES = 2;
/** Packets to a per-packet balancer itself: a second router there would be missed in one of 2^15 cases. */
const PACKETS_AT_OWN_HOP = 16;

export type BalancerKind = 'flow' | 'packet' | 'unknown';

/** How a place with several next hops chooses among them. */
export function kindOfBalancer(place: Place): BalancerKind {
  if (place.isPacketwise) return place.changes >= CHANGES ? 'packet' : 'unknown';
  return place.repeats + consistentBeyond(place) >= wantedRepeats(place, BITS) ? 'flow' : 'unknown';
}

/**
 * Packets that repeat a flow, to distinguish per-packet from per-flow balancers. Sent at once if the next links seem
 * to cross, which suggests the former: then of flows through the next places too, since each of their answers would also
 * change if the place before them balanced per packet.
 */
export function kindAsks(survey: Survey, places: readonly Place[], which: 'crossed' | 'all'): readonly Ask[] {
  const before = places.flatMap((place) => [...place.parents]);
  const crossed = before.filter((place) => place.isPacketwise || hasCrossedLinks(place));
  const beyond = crossed.filter(({ isPacketwise }) => !isPacketwise).flatMap(({ next }) => [...next.keys()]);
  const parents = new Set(which === 'all' ? places : [...crossed, ...beyond]);
  for (const place of parents) {
    const own = asksAtOwnHop(survey, place);
    if (own.length > 0) return own;
    const count = missingRepeats(place, beyond.includes(place));
    const slot = count > 0 ? repeatable(survey, place) : undefined;
    if (slot !== undefined) return Array.from({ length: count }, () => slot);
  }
  return [];
}

/** The first repeats of flows beyond places with several next hops. */
export function earlyAsks(survey: Survey, places: readonly Place[]): readonly Ask[] {
  return places.flatMap((place) => {
    if (place.kind !== 'router' || place.isPacketwise || place.seenNext.size < 2) return [];
    const wanted = Math.min(EARLY_REPEATS, wantedRepeats(place, BITS)) - place.repeats;
    const slot = wanted > 0 ? repeatable(survey, place) : undefined;
    return slot === undefined ? [] : Array.from({ length: wanted }, () => slot);
  });
}

/**
 * Packets to the hop of a router that seems to balance per packet, to exclude that it is merely one of several behind a
 * balancer: of flows not yet probed there if all pass it, since another balancer may choose by flow.
 */
function asksAtOwnHop({ slots, at, sole, flows }: Survey, place: Place): readonly Ask[] {
  if (!place.isPacketwise || place.kind !== 'router') return [];
  const { ttl } = place;
  const here = [...slots.values()].flatMap((own) => own.get(ttl) ?? []).filter(({ flow }) => at(flow, ttl) === place);
  const missing = PACKETS_AT_OWN_HOP - here.reduce((sum, { packets }) => sum + packets.length, 0);
  if (here.length === 0 || missing <= 0) return [];
  if (sole(ttl) !== place)
    return Array.from({ length: missing }, (_, index) => ({ flow: here[index % here.length]!.flow, ttl }));
  const isProbed = (flow: number): boolean => slots.get(flow)?.has(ttl) === true;
  const beyond = [...slots].flatMap(([flow, own]) => (own.has(ttl + 1) && !isProbed(flow) ? [flow] : []));
  const fresh = Array.from({ length: missing }, (_, index) => flows + index);
  return [...beyond, ...fresh].slice(0, missing).map((flow) => ({ flow, ttl }));
}

function missingRepeats(place: Place, isBehindCrossed: boolean): number {
  const { kind, seenNext, isPacketwise, changes, repeats } = place;
  if (seenNext.size < 2 || (kind !== 'router' && kind !== 'silence')) return 0;
  if (isPacketwise) return changes >= CHANGES ? 0 : Math.max(0, wantedRepeats(place, BITS_IF_PACKETWISE) - repeats);
  const other = isBehindCrossed || hasCrossedLinks(place) ? 0 : consistentBeyond(place);
  return Math.max(0, wantedRepeats(place, BITS) - repeats - other);
}

function wantedRepeats({ seenNext }: Place, bits: number): number {
  return Math.ceil(bits / Math.log2(Math.max(2, seenNext.size)));
}

/** True if two of the next places lead to the same two places. */
function hasCrossedLinks({ next }: Place): boolean {
  const sets = [...next.keys()].map(({ seenNext }) => new Set(seenNext.keys())).filter(({ size }) => size > 1);
  return sets.some((one, index) =>
    sets.slice(index + 1).some((other) => [...one].filter((seen) => other.has(seen)).length > 1),
  );
}

/** Flows beyond the first of each next place that went on alike, if the next places lead to different ones. */
function consistentBeyond({ next }: Place): number {
  const places = [...next.keys()].filter(({ samples }) => samples > 0);
  const beyond = places.flatMap(({ seenNext }) => [...seenNext.keys()]);
  const isParallel = places.length > 1 && new Set(beyond).size === places.length && beyond.length === places.length;
  return isParallel ? places.reduce((sum, { samples }) => sum + samples - 1, 0) : 0;
}

/** The flow with the most repeats that is known at the place and answered beyond it. */
function repeatable(survey: Survey, place: Place): Ask | undefined {
  const slots = [...survey.slots.values()].flatMap((own) => [...own.values()]);
  const own = slots.filter(
    ({ flow, ttl, packets }) => survey.at(flow, ttl - 1) === place && packets.some(({ answer }) => answer !== null),
  );
  const [most] = own.toSorted((a, b) => b.packets.length - a.packets.length);
  return most && { flow: most.flow, ttl: most.ttl };
}
