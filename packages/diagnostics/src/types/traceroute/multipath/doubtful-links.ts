import { kindOfBalancer } from './kinds.ts';
import type { HopPacket } from './slots/refusals.ts';
import { stoppingPoint } from './stopping-points.ts';
import type { Survey } from './survey.ts';
import { isByPacket, type Vertex } from './vertex.ts';
import { SAMPLES_AFTER_CLOUD } from './wanted/needs.ts';

/** Ratio of refused packets to passing flows from which the successors of a router are in doubt. */
const MOST_REFUSED = 2;

/**
 * Number of quiet packets (`quietIn`) that exclude a silent router if all are answered: behind a balancer of two paths
 * it would be missed in one of 256 cases.
 */
const ANSWERED = 8;

type Links = (from: Vertex, to: Vertex) => boolean;

/** Returns a function that is true for a doubtful link: the answers that show it may come from a path without it. */
export function doubtfulLinks(survey: Survey): Links {
  const isUnclear = unclearIn(survey);
  const doubtful = doubtfulIn(survey, isUnclear);
  const isAssumed = assumedIn(survey, isUnclear);
  return (from, to) => doubtful.has(from) || isAssumed(from, to);
}

/**
 * The vertices from which links are doubtful, for one of two reasons. Behind a per-packet balancer a single router at a
 * hop seems to prove links, but if packets to that hop were lost, a silent router may be there too. And if all known
 * paths to a vertex begin behind a gap or at a router that refused packets, that place may balance per packet; not so
 * for the only vertex of a hop, if enough flows reached it.
 */
function doubtfulIn(survey: Survey, isUnclear: (vertex: Vertex) => boolean): ReadonlySet<Vertex> {
  const { vertices, slots, sole } = survey;
  const nearest = Math.min(...[...slots.values()].flatMap((own) => [...own.keys()]));
  const lossy = lossyIn(survey);
  const [doubtful, cutOff] = [new Set<Vertex>(), new Set<Vertex>()];
  for (const vertex of vertices.toSorted((a, b) => a.ttl - b.ttl)) {
    const { kind, isPacketwise, parents, ttl } = vertex;
    const isChosen = isPacketwise || [...parents].some((one) => isByPacket(one) || doubtful.has(one));
    const isSure = (one: Vertex): boolean =>
      !lossy.has(one) && (one.kind !== 'cloud' || one.samples >= SAMPLES_AFTER_CLOUD);
    const isAlone = kind === 'cloud' ? isSure(vertex) : [...parents].every(isSure);
    if (!isAlone && (kind === 'cloud' || isChosen)) doubtful.add(vertex);
    const isMet = sole(ttl) === vertex && flowsTo(vertex) >= stoppingPoint(1);
    if (ttl > nearest && !isMet && [...parents].every((one) => cutOff.has(one) || isUnclear(one))) cutOff.add(vertex);
  }
  return new Set([...doubtful, ...cutOff]);
}

/** Number of flows that are known to have reached a vertex through one of its known predecessors. */
function flowsTo(vertex: Vertex): number {
  return [...vertex.parents].reduce((sum, { next }) => sum + (next.get(vertex) ?? 0), 0);
}

/**
 * Returns whether a router refused so many more packets than flows passed it that it may have further successors, or
 * balance per packet.
 */
function unclearIn({ slots }: Survey): (vertex: Vertex) => boolean {
  const packets = [...slots.values()].flatMap((own) => [...own.values()].flatMap((slot) => slot.packets));
  const refusals = Map.groupBy(packets, ({ refusedBy }) => refusedBy?.address);
  return (vertex) => {
    const { kind, seen, next } = vertex;
    const [address] = seen;
    const refused = refusals.get(address)?.length ?? 0;
    const passed = [...next.values()].reduce((sum, count) => sum + count, 0);
    if (kind !== 'router' || refused < MOST_REFUSED * passed || refused === 0) return false;
    return passed < stoppingPoint(Math.max(1, next.size)) || (next.size > 1 && kindOfBalancer(vertex) === 'unknown');
  };
}

/**
 * Returns whether only flows that are assumed to pass a vertex showed a link from it, while a router before it is
 * unclear: they may pass another one.
 */
function assumedIn(
  { vertices, slots, at }: Survey,
  isUnclear: (vertex: Vertex) => boolean,
): (from: Vertex, to: Vertex) => boolean {
  const unclear = Math.min(...vertices.filter(isUnclear).map(({ ttl }) => ttl));
  const isSeen = (flow: number, ttl: number, vertex: Vertex): boolean =>
    slots.get(flow)?.has(ttl) === true && at(flow, ttl) === vertex;
  return (from, to) => {
    if (from.ttl <= unclear) return false;
    return ![...slots].some(([flow, own]) =>
      [...own.keys()].some((ttl) => isSeen(flow, ttl - 1, from) && isSeen(flow, ttl, to)),
    );
  };
}

/**
 * The vertices beyond which packets were lost, or refused. Packets that a rate limit may explain do not count if enough
 * others were answered: with a silent router there, some of these would have been lost.
 */
function lossyIn({ slots, at, quiet }: Survey): ReadonlySet<Vertex> {
  const beyond = new Map<Vertex, HopPacket[]>();
  for (const { flow, ttl, packets } of [...slots.values()].flatMap((own) => [...own.values()])) {
    const vertex = at(flow, ttl - 1);
    if (vertex !== undefined) beyond.set(vertex, [...(beyond.get(vertex) ?? []), ...packets]);
  }
  const isLossy = (packets: readonly HopPacket[]): boolean => {
    const lost = packets.filter(({ answer, isGivenUp }) => answer === null && isGivenUp);
    const isLimited = lost.every((packet) => packet.isRefused !== true && !quiet.has(packet));
    const answered = packets.filter((packet) => packet.answer !== null && quiet.has(packet));
    return lost.length > 0 && !(isLimited && answered.length >= ANSWERED);
  };
  return new Set([...beyond].flatMap(([vertex, packets]) => (isLossy(packets) ? [vertex] : [])));
}
