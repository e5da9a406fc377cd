import type { TracePacket } from '../probing/trace.ts';
import type { Trace } from '../probing/trace-state.ts';
import { TOGETHER_MS } from '../options/spaced-results.ts';
import { FULL_TTL } from '../result-fields.ts';

/**
 * Number of unanswered packets, at hops where routers answered others, from which loss is suspected at the target too.
 */
const DOUBTED_ON_WAY = 3;

/**
 * True if loss at the target is suspected: it left a packet unanswered that counts at its hop, or one that was sent
 * just before another that it answered; or the trace was cut, and routers left several unanswered.
 *
 * @param isOfAllFlows true after a search for all paths, in which all packets that can reach the target count, not only
 *   those at its hop
 */
export function isDoubtful(trace: Trace, isOfAllFlows: boolean): boolean {
  if (countsAtTarget(trace, isOfAllFlows).lost > 0 || isOvertaken(trace)) return true;
  const lost = trace.packets.filter(({ answer }) => answer === null);
  return trace.isCut && lostOnWay(trace, lost) >= DOUBTED_ON_WAY;
}

/**
 * True if a search for all paths must leave packets for `sendSpaced`: the target left a packet unanswered that is given
 * up, or routers left several.
 */
export function isDoubtfulInSearch(trace: Trace): boolean {
  const isLost = (packet: TracePacket): boolean => packet.isGivenUp && packet.answer === null;
  const lost = trace.packets.filter(isLost);
  return lost.some((packet) => isBeyond(trace, packet)) || lostOnWay(trace, lost) >= DOUBTED_ON_WAY;
}

/**
 * Numbers of answered and lost packets of flows that reached the target: of those that count at its hop, or after a
 * search for all paths of those whose TTL suffices to reach it.
 */
export function countsAtTarget(
  trace: Trace,
  isOfAllFlows: boolean,
): { readonly answered: number; readonly lost: number } {
  const counted = isOfAllFlows
    ? trace.packets.filter((packet) => isBeyond(trace, packet))
    : trace.views.flatMap(({ reached, atEnd }) => (reached ? atEnd : []));
  const lost = counted.filter(({ answer }) => answer === null).length;
  return { answered: counted.length - lost, lost };
}

/**
 * True if the target left a packet unanswered but answered a later one of the flow that was sent together with it. That
 * is loss, because a rate limit would have answered the first one. Always false with rounds.
 */
function isOvertaken(trace: Trace): boolean {
  if (trace.rounds !== undefined) return false;
  const reached = trace.packets.filter((packet) => packet.sentMs !== null && isBeyond(trace, packet));
  const answered = reached.filter(({ answer }) => answer?.kind === 'target');
  const isJustBefore = (lost: TracePacket, later: TracePacket): boolean =>
    lost.flow === later.flow && lost.index < later.index && later.sentMs! - lost.sentMs! <= TOGETHER_MS;
  return reached.some((lost) => lost.answer === null && answered.some((later) => isJustBefore(lost, later)));
}

function isBeyond({ views }: Trace, { flow, ttl }: TracePacket): boolean {
  return views[flow]?.reached === true && ttl >= (views[flow].end ?? FULL_TTL);
}

/** Number of the lost packets whose hop has a router that answered others. */
function lostOnWay({ packets }: Trace, lost: readonly TracePacket[]): number {
  const answering = new Set(packets.flatMap(({ ttl, answer }) => (answer?.kind === 'expired' ? [ttl] : [])));
  return lost.filter(({ ttl }) => answering.has(ttl)).length;
}
