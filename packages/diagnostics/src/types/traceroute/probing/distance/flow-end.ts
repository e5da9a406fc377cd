import { distanceOf, isFull, type TracePacket } from '../trace.ts';
import { targetDistance } from './tunnels.ts';
import { nearerByWayBack } from './way-back.ts';

type Limits = Parameters<typeof distanceOf>[2];

/** Where the path of a flow ended. */
export interface End {
  readonly end: number | null;
  /** A hop before `end` that may be the target's, by the TTL that the target's error quotes; null if none. */
  readonly doubt: number | null;
  readonly reached: boolean;
  /** Highest TTL that expired at a router; 0 without any. */
  readonly lastExpired: number;
  /** The router at which a TTL expired; undefined if none answered. */
  readonly routerAt: (ttl: number) => string | undefined;
}

/**
 * Finds where the path of a flow ends. Written as loops for speed, because it is called after every packet and answer.
 */
export function endOf(own: readonly TracePacket[], limits: Limits, packets: readonly TracePacket[]): End {
  let lastExpired = 0;
  let reached = false;
  for (const packet of own) {
    if (packet.answer?.kind === 'target') reached = true;
    if (packet.answer?.kind === 'expired' && !isFull(packet)) lastExpired = Math.max(lastExpired, packet.ttl);
  }
  let nearest: number | null = null;
  for (const packet of own) {
    const end = reached ? distanceOf(packet, lastExpired, limits) : refusedAt(packet, lastExpired);
    if (end !== null && end < (nearest ?? Infinity)) nearest = end;
  }
  const routerAt = (wanted: number): string | undefined =>
    own.find((packet) => packet.ttl === wanted && packet.answer?.kind === 'expired' && !isFull(packet))?.answer?.from;
  const found = reached && nearest !== null ? targetDistance(nearest, own, packets) : { end: nearest, doubt: null };
  const nearer =
    reached && found.end !== null && found.doubt === null && found.end > lastExpired + 1
      ? nearerByWayBack(own, found.end, lastExpired, packets)
      : null;
  return { ...found, end: nearer ?? found.end, reached, lastExpired, routerAt };
}

/**
 * TTL at which a refusal ends the flow’s path; null if a packet with an equal or higher TTL expired at a router, which
 * shows that the refusing router forwards some packets.
 */
function refusedAt(packet: TracePacket, lastExpired: number): number | null {
  return packet.answer?.kind === 'refused' && packet.ttl > lastExpired && !isFull(packet) ? packet.ttl : null;
}

/**
 * Assigns flows with the same last router the same distance to the target. A flow whose packets to the target’s hop
 * were lost would place it one hop further. The last router is taken to have the target on its own link, and not to
 * balance.
 */
export function sharedEnds(ends: readonly End[]): readonly End[] {
  return ends.map((own) => {
    if (!own.reached) return own;
    const nearer = ends.filter(({ end, reached, routerAt }) => {
      if (!reached || end === null || end >= (own.end ?? Infinity) || end <= own.lastExpired) return false;
      const last = routerAt(end - 1);
      return last !== undefined && last === own.routerAt(end - 1);
    });
    return nearer.length === 0 ? own : { ...own, end: Math.min(...nearer.map(({ end }) => end!)), doubt: null };
  });
}
