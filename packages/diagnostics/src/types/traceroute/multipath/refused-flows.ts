import { isFull, type TracePacket } from '../probing/trace.ts';
import { seenAs } from './slots.ts';

/** The end of a flow at a router that refuses its packets. */
export interface RefusedEnd {
  /** The lowest TTL that the router refused, of any flow: packets with a higher one get no further either. */
  readonly ttl: number;
  readonly seen: string;
}

/**
 * Flows that a router refused at its own hop or beyond. Routers limit the rate of their errors: silence of such a flow
 * from the router's hop on is that of the router, and no node behind it.
 */
export function refusedEndsOf(packets: readonly TracePacket[]): ReadonlyMap<number, RefusedEnd> {
  const nearest = new Map<string, number>();
  const lastExpired = new Map<number, number>();
  for (const packet of packets) {
    const { flow, ttl, answer } = packet;
    if (answer === null || isFull(packet)) continue;
    if (answer.kind === 'expired') lastExpired.set(flow, Math.max(ttl, lastExpired.get(flow) ?? 0));
    if (answer.kind === 'refused') nearest.set(seenAs(answer), Math.min(ttl, nearest.get(seenAs(answer)) ?? ttl));
  }
  const refusals = new Map<number, RefusedEnd>();
  for (const { flow, answer } of packets) {
    if (answer?.kind !== 'refused') continue;
    const seen = seenAs(answer);
    const ttl = nearest.get(seen);
    // Another flow may reach the router on a longer way: then its packets with this TTL still expire at other routers.
    if (ttl !== undefined && ttl > (lastExpired.get(flow) ?? 0)) refusals.set(flow, { ttl, seen });
  }
  return refusals;
}
