import { FULL_TTL } from '../../result-fields.ts';
import { isFull, type TracePacket } from '../../probing/trace.ts';
import type { Place } from '../place.ts';
import type { Ask, Survey } from '../survey.ts';

/** Flows of a dead end that ask the target itself, and packets of each. */
const FLOWS = 3;
const PACKETS = 2;

/**
 * Packets with the full TTL for flows that end in silence while others reach the target: whether it is only the routers that
 * are silent there.
 */
export function deadEndAsks(survey: Survey, packets: readonly TracePacket[]): readonly Ask[] {
  const isReached = packets.some(({ answer }) => answer?.kind === 'target');
  if (!isReached) return [];
  return survey.places
    .filter(({ kind, next }) => kind === 'router' && next.size > 0 && [...next.keys()].every(isSilentEnd))
    .flatMap((place) => {
      const flows = flowsAt(survey, place).slice(0, FLOWS);
      const full = packets.filter((packet) => isFull(packet) && flows.includes(packet.flow));
      if (full.some(({ answer }) => answer !== null)) return [];
      const sent = (flow: number): number => full.filter((packet) => packet.flow === flow).length;
      const least = Math.min(...flows.map(sent));
      return least >= PACKETS
        ? []
        : flows.filter((flow) => sent(flow) === least).map((flow) => ({ flow, ttl: FULL_TTL }));
    });
}

function isSilentEnd({ kind, next }: Place): boolean {
  return kind === 'silence' && [...next.keys()].every(isSilentEnd);
}

/** Flows that were answered at the place. */
function flowsAt({ slots, at }: Survey, place: Place): number[] {
  return [...slots].flatMap(([flow, own]) => ([...own.keys()].some((ttl) => at(flow, ttl) === place) ? [flow] : []));
}
