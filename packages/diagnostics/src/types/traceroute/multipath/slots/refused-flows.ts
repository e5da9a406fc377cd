import { isFull, type TracePacket } from '../../probing/trace.ts';
import { answersIn, seenAs, SILENT, type Slot } from './slots.ts';

/** The end of a flow at a router that refuses its packets. */
export interface RefusedEnd {
  /** The lowest TTL that the router refused, of any flow: packets with a higher one get no further either. */
  readonly ttl: number;
  readonly seen: string;
}

/**
 * Flows that a router refused at its own hop or beyond. A router may rate-limit its ICMP errors: silence of such a flow
 * from the router’s hop on is taken as that of the router, and shows no node behind it.
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
    // Another flow may reach the router on a longer path: then its packets with this TTL still expire at other routers.
    if (ttl !== undefined && ttl > (lastExpired.get(flow) ?? 0)) refusals.set(flow, { ttl, seen });
  }
  return refusals;
}

/** True for silence of a flow beyond the router that refuses it. */
export function isSilentBeyond(slot: Slot, refusals: ReadonlyMap<number, RefusedEnd>): boolean {
  return slot.ttl > (refusals.get(slot.flow)?.ttl ?? Infinity) && answersIn(slot).length === 0;
}

/** What a slot without answers shows. */
export function silenceAt({ flow, ttl }: Slot, refusals: ReadonlyMap<number, RefusedEnd>): string {
  const refusal = refusals.get(flow);
  return refusal?.ttl === ttl ? refusal.seen : SILENT;
}
