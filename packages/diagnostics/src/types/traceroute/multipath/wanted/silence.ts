import { GAP_LIMIT } from '../../probing/flow-view.ts';
import { stoppingPoint } from '../stopping-points.ts';
import type { Ask, Survey } from '../survey.ts';
import type { Vertex } from '../vertex.ts';
import { isInSilence, SAMPLES_IN_SILENCE } from './needs.ts';

/** True for a silent vertex behind which only silence is known. */
export function isSilentEnd({ kind, next }: Vertex): boolean {
  return kind === 'silence' && [...next.keys()].every(isSilentEnd);
}

export function isBeforeSilence({ kind, next }: Vertex): boolean {
  return kind === 'silence' || [...next.keys()].some((one) => one.kind === 'silence');
}

/** Adds the packets for silent hops to `asks`: sent at the same time, they cost a single wait. */
export function withSilence(asks: readonly Ask[], survey: Survey, maxHops: number): readonly Ask[] {
  const isNew = ({ flow, ttl }: Ask): boolean => !asks.some((one) => one.flow === flow && one.ttl === ttl);
  return [...asks, ...asksInSilence(survey, maxHops, () => true).filter(isNew)];
}

/**
 * Packets to all wanted silent hops at once, up to `GAP_LIMIT` in a row, of flows that are known or certain to meet the
 * silence.
 */
export function asksInSilence(survey: Survey, maxHops: number, isWanted: (vertex: Vertex) => boolean): readonly Ask[] {
  const { vertices, slots, flows, at, sole } = survey;
  return vertices
    .filter(({ kind, ttl, silence }) => kind === 'silence' && ttl <= maxHops && silence <= GAP_LIMIT)
    .filter(isWanted)
    .flatMap((vertex) => {
      const { ttl, next } = vertex;
      const count = isInSilence(vertex) || next.size === 0 ? SAMPLES_IN_SILENCE : stoppingPoint(1);
      const first = startOf(vertex);
      const fresh = sole(first.ttl) === first ? count : 0;
      const here = Array.from({ length: flows + fresh }, (_, flow) => flow).filter(
        (flow) => flow >= flows || at(flow, first.ttl) === first,
      );
      const missing = here.filter((flow) => slots.get(flow)?.has(ttl) !== true);
      const asked = here.length - missing.length;
      const own = missing.slice(0, Math.max(0, count - asked)).map((flow) => ({ flow, ttl }));
      return next.size > 0 ? own : [...own, ...asksBeyond(vertex, here.slice(0, count), survey, maxHops)];
    });
}

/** Packets of the flows to all hops that may be silent behind the last known silent one. */
function asksBeyond({ ttl, silence }: Vertex, flows: readonly number[], { slots }: Survey, maxHops: number): Ask[] {
  const last = Math.min(maxHops, ttl + GAP_LIMIT - silence);
  const hops = Array.from({ length: Math.max(0, last - ttl) }, (_, index) => ttl + 1 + index);
  const asks = hops.flatMap((hop) => flows.map((flow) => ({ flow, ttl: hop })));
  return asks.filter((one) => slots.get(one.flow)?.has(one.ttl) !== true);
}

/** The first vertex of a run of silent hops. */
function startOf(vertex: Vertex): Vertex {
  let first = vertex;
  for (;;) {
    const before = [...first.parents].find(({ kind, ttl }) => kind === 'silence' && ttl < first.ttl);
    if (before === undefined) return first;
    first = before;
  }
}

/** Maximum number of packets to a slot to find whether a rate limit explains its silence. */
const MOST_QUIET = 4;

/**
 * A packet to each silent hop without a quiet packet among the lost ones (`quietIn`): routers that rate-limit their
 * answers may have spent them on packets to other hops.
 */
export function quietAsks({ vertices, slots, at, quiet }: Survey): readonly Ask[] {
  const all = [...slots.values()].flatMap((own) => [...own.values()]);
  return vertices
    .filter(({ kind }) => kind === 'silence')
    .flatMap((vertex) => {
      const here = all.filter(({ flow, ttl }) => at(flow, ttl) === vertex);
      if (here.some(({ packets }) => packets.some((packet) => quiet.has(packet)))) return [];
      const [slot] = here.toSorted((a, b) => a.packets.length - b.packets.length);
      return slot === undefined || slot.packets.length >= MOST_QUIET ? [] : [{ flow: slot.flow, ttl: slot.ttl }];
    });
}
