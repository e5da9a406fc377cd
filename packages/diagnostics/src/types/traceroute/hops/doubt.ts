import type { TracePacket } from '../probing/trace.ts';
import type { Trace } from '../probing/trace-state.ts';
import { TOGETHER_MS } from '../options/spaced-results.ts';
import { FULL_TTL } from '../result-fields.ts';

/** Unanswered packets to hops where routers answered others, from which loss is suspected at the target too. */
const DOUBTED_ON_WAY = 3;

/**
 * True if the target left an awaited packet unanswered, or one that left just before another that it answered, or if
 * routers left several unanswered in a trace that was cut.
 *
 * @param isOfAllFlows true after a search for all paths, which awaits all of its packets, not just those that count at
 * the target’s hop
 */
export function isDoubtful(trace: Trace, isOfAllFlows: boolean): boolean {
  if (countsAtTarget(trace, isOfAllFlows).lost > 0 || isOvertaken(trace)) return true;
  const lost = trace.packets.filter(({ answer }) => answer === null);
  return trace.isCut && lostOnWay(trace, lost) >= DOUBTED_ON_WAY;
}

/**
 * True if a search for all paths must leave packets for `sendSpaced`: the target left one unanswered that is given up,
 * or routers several.
 */
export function isDoubtfulInSearch(trace: Trace): boolean {
  const isLost = (packet: TracePacket): boolean => packet.isGivenUp && packet.answer === null;
  const lost = trace.packets.filter(isLost);
  return lost.some((packet) => isBeyond(trace, packet)) || lostOnWay(trace, lost) >= DOUBTED_ON_WAY;
}

/**
 * Packets of flows that reached the target: those that count at its hop, or after a search for all paths those that
 * went that far.
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
 * True if the target left a packet unanswered but answered a later one of the flow that left together with it: that is
 * loss, because a rate limit answers the first ones. Never with rounds.
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

/** Number of those packets that went to hops at which a router answered others. */
function lostOnWay({ packets }: Trace, lost: readonly TracePacket[]): number {
  const answering = new Set(packets.flatMap(({ ttl, answer }) => (answer?.kind === 'expired' ? [ttl] : [])));
  return lost.filter(({ ttl }) => answering.has(ttl)).length;
}
