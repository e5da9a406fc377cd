import { isFull, type TracePacket } from '../../probing/trace.ts';
import type { HopPacket } from './refusals.ts';

/** A flow at a TTL, with all packets that were sent there. */
export interface Slot {
  readonly flow: number;
  readonly ttl: number;
  readonly packets: readonly HopPacket[];
  /** Routers at this hop that refused packets of the flow with a higher TTL. */
  readonly refusers: readonly string[];
}

interface GrowingSlot extends Slot {
  readonly packets: HopPacket[];
  readonly refusers: string[];
}

/** Marks an answer of the target. */
const ARRIVED = '=';
/** Marks an ICMP error other than time exceeded. */
const REFUSED = '!';
/** Marks a packet without an answer. */
export const SILENT = '*';

export type Slots = ReadonlyMap<number, ReadonlyMap<number, Slot>>;

/** The packets with limited TTLs by flow and TTL. */
export function slotsOf(packets: readonly HopPacket[]): Slots {
  const slots = new Map<number, Map<number, GrowingSlot>>();
  for (const packet of packets) {
    if (isFull(packet)) continue;
    const { flow, ttl } = packet;
    const own = slots.get(flow) ?? new Map<number, GrowingSlot>();
    slots.set(flow, own);
    const slot = own.get(ttl) ?? { flow, ttl, packets: [], refusers: [] };
    slot.packets.push(packet);
    own.set(ttl, slot);
  }
  for (const { flow, refusedBy } of packets) {
    if (refusedBy?.hop !== undefined) slots.get(flow)?.get(refusedBy.hop)?.refusers.push(refusedBy.address);
  }
  return slots;
}

/** The answers to the packets of a slot, as text (`seenAs`), in sending order; unanswered packets are left out. */
export function answersIn({ packets }: Slot): readonly string[] {
  return packets.flatMap(({ answer }) => (answer === null ? [] : [seenAs(answer)]));
}

export function seenAs({ kind, from }: NonNullable<TracePacket['answer']>): string {
  if (kind === 'expired') return from;
  return `${kind === 'target' ? ARRIVED : REFUSED}${from}`;
}

/** True for an answer with which the path of the packet ends. */
export function isEnd(seen: string): boolean {
  return isOfTarget(seen) || isRefusal(seen);
}

export function isOfTarget(seen: string): boolean {
  return seen.startsWith(ARRIVED);
}

export function isRefusal(seen: string): boolean {
  return seen.startsWith(REFUSED);
}

/** The address in an answer; null for silence. */
export function addressIn(seen: string): string | null {
  if (seen === SILENT) return null;
  return isEnd(seen) ? seen.slice(1) : seen;
}

export function isAwaited({ packets }: Slot): boolean {
  return packets.some(({ answer, isGivenUp }) => answer === null && !isGivenUp);
}

/** True for a slot that says nothing of its hop: routers before it refused its packets. */
export function isRefused(slot: Slot | undefined): boolean {
  return slot?.packets.some((packet) => packet.isRefused === true) === true && answersIn(slot).length === 0;
}
