import { FULL_TTL } from '../../result-fields.ts';
import { isFull, type TracePacket } from '../../probing/trace.ts';
import type { Vertex } from '../vertex.ts';
import type { Ask, Survey } from '../survey.ts';

/** Flows of a dead end that ask the target itself. */
const FLOWS = 3;
/** Packets that prove a dead end: lost ones of these flows, and answered ones of a flow that reaches the target. */
const [LOST, ANSWERED] = [6, 6];
/** Packets of that flow each time: as many as of the flows of a dead end, since chance is judged by both. */
const CONTROLS = 3;
/** Number of packets per flow: more if it is alone, or if packets are lost on the other paths too. */
const MOST_TIMES = 6;

/**
 * Packets for flows that end in silence while others reach the target. First those that reveal their path from the
 * balancer: flows not probed at a hop may have passed another router there. Then with the full TTL, to learn whether
 * only the routers are silent. The last ones belong to a flow that reaches the target: a target that is gone or
 * limits its answers is silent to all.
 */
export function deadEndAsks(survey: Survey, packets: readonly TracePacket[]): readonly Ask[] {
  const control = flowToTarget(packets);
  if (control === undefined) return [];
  const full = packets.filter(isFull);
  const unproved = deadEnds(survey)
    .map((vertex) => ({ vertex, own: flowsAt(survey, vertex) }))
    .filter(({ own }) => {
      const { asked, answered, isReached } = evidence(own, full, packets);
      const isProved = asked >= LOST && answered >= ANSWERED;
      return !isReached && !isProved && asked < MOST_TIMES * own.length;
    });
  const before = unproved.flatMap(({ vertex, own }) => own.flatMap((flow) => asksBefore(survey, vertex, flow)));
  if (before.length > 0 || unproved.length === 0) return before;
  const flows = [...unproved.flatMap(({ own }) => own), ...Array<number>(CONTROLS).fill(control)];
  return flows.map((flow) => ({ flow, ttl: FULL_TTL }));
}

/** The hops from the balancer before a vertex at which the flow was not probed. */
function asksBefore({ slots }: Survey, vertex: Vertex, flow: number): readonly Ask[] {
  const first = balancerTtl(vertex);
  return Array.from({ length: vertex.ttl - first }, (_, index) => ({ flow, ttl: first + index })).filter(
    ({ ttl }) => ttl > 0 && slots.get(flow)?.has(ttl) !== true,
  );
}

function balancerTtl(vertex: Vertex): number {
  let at = vertex;
  for (;;) {
    const [parent, ...others] = at.parents;
    if (parent === undefined || parent.ttl >= at.ttl) return at.ttl;
    if (others.length > 0 || parent.next.size > 1) return parent.ttl;
    at = parent;
  }
}

/** Vertices in which paths are known to end: nothing came back from beyond, while others reached the target. */
export function provedDeadEnds(survey: Survey, packets: readonly TracePacket[]): readonly Vertex[] {
  const full = packets.filter(isFull);
  return deadEnds(survey).filter((vertex) => {
    const { asked, answered, isReached } = evidence(flowsAt(survey, vertex), full, packets);
    return !isReached && asked >= LOST && answered >= ANSWERED;
  });
}

interface Evidence {
  /** Packets of the flows that were probed with the full TTL. */
  readonly asked: number;
  /** Packets of other flows that the target answered afterwards. */
  readonly answered: number;
  /** Whether one of the flows reached the target. */
  readonly isReached: boolean;
}

function evidence(flows: readonly number[], full: readonly TracePacket[], all: readonly TracePacket[]): Evidence {
  const isOwn = ({ flow }: TracePacket): boolean => flows.includes(flow);
  const first = full.findIndex(isOwn);
  const others = first === -1 ? [] : full.slice(first).filter((packet) => !isOwn(packet));
  return {
    asked: full.filter(isOwn).length,
    answered: others.filter(isOfTarget).length,
    isReached: all.some((packet) => isOwn(packet) && isOfTarget(packet)),
  };
}

function isOfTarget({ answer }: TracePacket): boolean {
  return answer?.kind === 'target';
}

/** The flow whose packets the target answered last. */
function flowToTarget(packets: readonly TracePacket[]): number | undefined {
  return packets.findLast(isOfTarget)?.flow;
}

/** Routers beyond which everything is silent, and silence directly after a router that leads other flows on. */
function deadEnds({ vertices }: Survey): readonly Vertex[] {
  return vertices.filter((vertex) => {
    const { kind, next, parents } = vertex;
    if (kind === 'router') return next.size > 0 && [...next.keys()].every(isSilentEnd);
    return isSilentEnd(vertex) && [...parents].every(leadsOn);
  });
}

/** True for a router that leads some flows on; a per-packet balancer has no path that only certain flows take. */
function leadsOn({ kind, next, isPacketwise }: Vertex): boolean {
  return kind === 'router' && !isPacketwise && ![...next.keys()].every(isSilentEnd);
}

function isSilentEnd({ kind, next }: Vertex): boolean {
  return kind === 'silence' && [...next.keys()].every(isSilentEnd);
}

/** Some flows that were answered at the vertex, or that found silence there. */
function flowsAt({ slots, at }: Survey, vertex: Vertex): number[] {
  const flows = [...slots].flatMap(([flow, own]) =>
    [...own.keys()].some((ttl) => at(flow, ttl) === vertex) ? [flow] : [],
  );
  return flows.slice(0, FLOWS);
}
