import { FULL_TTL } from '../../result-fields.ts';
import { isFull, type TracePacket } from '../../probing/trace.ts';
import { answersIn, isAwaited, isRefused } from '../slots/slots.ts';
import type { Vertex } from '../vertex.ts';
import type { Ask, Survey } from '../survey.ts';
import { isSilentEnd } from './silence.ts';

/** Maximum number of flows of a dead end that probe the target with the full TTL. */
const FLOWS = 3;
/**
 * Numbers of full-TTL packets that prove a dead end: those of its flows, none of which the target answered, and those
 * of other flows that it answered afterwards.
 */
const [LOST, ANSWERED] = [6, 6];
/**
 * `LOST` and `ANSWERED` if the hop behind is not known to be silent, or answered only some packets of a flow: where
 * routers rate-limit their answers, only packets with the full TTL prove something.
 */
const [LOST_UNSEEN, ANSWERED_UNSEEN] = [9, 9];
/**
 * Control packets per batch, of a flow that reaches the target: as many as `FLOWS`, so that random loss affects both
 * alike.
 */
const CONTROLS = 3;
/**
 * Limit of full-TTL packets per flow of a dead end: more than `LOST / FLOWS`, because a dead end may have a single
 * flow, and more than `ANSWERED`, because many targets answer one packet per second, and the search may have used up
 * their limit.
 */
const MOST_TIMES = 9;
/**
 * Replaces `MOST_TIMES` if the target answered some packets of other flows: it may rate-limit its answers, perhaps also
 * those to other probes.
 */
const MOST_TIMES_LIMITED = 18;

/**
 * Packets that test whether flows that end in silence, while others reach the target, are dropped. First they fill the
 * unprobed hops from the balancer on, because a flow may have passed another router there. Then they have the full TTL,
 * in case only the routers are silent; packets of a flow that reaches the target serve as a control, because a target
 * that is gone or rate-limits its answers is silent to all flows.
 */
export function deadEndAsks(survey: Survey, packets: readonly TracePacket[]): readonly Ask[] {
  const control = flowToTarget(packets);
  if (control === undefined) return [];
  const full = packets.filter(isFull);
  const unproved = deadEnds(survey)
    .map((vertex) => ({ vertex, own: flowsAt(survey, vertex) }))
    .filter(({ vertex, own }) => {
      const found = evidence(own, full, packets);
      const most = found.answered > 0 ? MOST_TIMES_LIMITED : MOST_TIMES;
      return !found.isReached && !isProved(survey, vertex, found) && found.asked < most * own.length;
    });
  const before = unproved.flatMap(({ vertex, own }) => own.flatMap((flow) => asksBefore(survey, vertex, flow)));
  if (before.length > 0 || unproved.length === 0) return before;
  const flows = [...unproved.flatMap(({ own }) => own), ...Array<number>(CONTROLS).fill(control)];
  return flows.map((flow) => ({ flow, ttl: FULL_TTL }));
}

/** The hops between the balancer and the vertex at which the flow was not probed. */
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

/**
 * Vertices in which paths are known to end: the target answered none of the packets of their flows, enough of which had
 * the full TTL, but enough full-TTL packets of other flows.
 */
export function provedDeadEnds(survey: Survey, packets: readonly TracePacket[]): readonly Vertex[] {
  const full = packets.filter(isFull);
  return deadEnds(survey).filter((vertex) => {
    const found = evidence(flowsAt(survey, vertex), full, packets);
    return !found.isReached && isProved(survey, vertex, found);
  });
}

function isProved(survey: Survey, vertex: Vertex, { asked, answered }: Evidence): boolean {
  const isUnseen = vertex.kind === 'router' && (vertex.next.size === 0 || isLossyBeyond(vertex, survey));
  return asked >= (isUnseen ? LOST_UNSEEN : LOST) && answered >= (isUnseen ? ANSWERED_UNSEEN : ANSWERED);
}

/** True if the hop behind a vertex answered some packets of a flow, but not all. */
function isLossyBeyond({ ttl }: Vertex, { slots }: Survey): boolean {
  const beyond = [...slots.values()].flatMap((own) => own.get(ttl + 1) ?? []);
  return beyond.some((slot) => answersIn(slot).length > 0 && answersIn(slot).length < slot.packets.length);
}

interface Evidence {
  /** Full-TTL packets of the flows. */
  readonly asked: number;
  /** Full-TTL packets of other flows that the target answered, sent after the first one of the flows. */
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

/** The flow of the last packet that the target answered; undefined if it answered none. */
function flowToTarget(packets: readonly TracePacket[]): number | undefined {
  return packets.findLast(isOfTarget)?.flow;
}

/**
 * Candidates for dead ends: routers behind which nothing has answered, and silence directly behind a router that
 * forwards other flows.
 */
function deadEnds(survey: Survey): readonly Vertex[] {
  return survey.vertices.filter((vertex) => {
    const { kind, next, parents } = vertex;
    if (kind === 'router' && next.size === 0) return isUnansweredBeyond(vertex, survey);
    if (kind === 'router') return [...next.keys()].every(isSilentEnd);
    return isSilentEnd(vertex) && [...parents].every(leadsOn);
  });
}

/** True if packets of flows at the router were sent to the hop behind, and none was answered. */
function isUnansweredBeyond(vertex: Vertex, { slots, at }: Survey): boolean {
  const beyond = [...slots].flatMap(([flow, own]) =>
    [...own.values()].filter(({ ttl }) => at(flow, ttl - 1) === vertex),
  );
  return (
    beyond.length > 0 && beyond.every((slot) => !isAwaited(slot) && !isRefused(slot) && answersIn(slot).length === 0)
  );
}

/**
 * True for a router that forwards some flows; not for a per-packet balancer, which has no path that only certain flows
 * take.
 */
function leadsOn({ kind, next, isPacketwise }: Vertex): boolean {
  return kind === 'router' && !isPacketwise && ![...next.keys()].every(isSilentEnd);
}

/** Up to `FLOWS` flows that lead to the vertex. */
function flowsAt({ slots, at }: Survey, vertex: Vertex): number[] {
  const flows = [...slots].flatMap(([flow, own]) =>
    [...own.keys()].some((ttl) => at(flow, ttl) === vertex) ? [flow] : [],
  );
  return flows.slice(0, FLOWS);
}
