import { isFull, type TracePacket } from '../probing/trace.ts';

/**
 * Milliseconds after which a router that rate-limits its answers may send another: Linux limits them to one a second
 * for each destination.
 */
const REFILL_MS = 1_000;

/**
 * The packets whose loss a rate limit does not explain: no packet that was sent within `REFILL_MS` before was answered
 * by an ICMP error. The errors of all routers and of the target count, since nothing tells to which one a lost packet
 * went.
 *
 * @param packets in sending order
 */
export function quietIn<Packet extends TracePacket>(packets: readonly Packet[]): ReadonlySet<Packet> {
  const quiet = new Set<Packet>();
  let answeredMs = -Infinity;
  for (const packet of packets) {
    if (isFull(packet)) continue;
    if (packet.awaitedMs - answeredMs >= REFILL_MS) quiet.add(packet);
    if (isLimited(packet)) answeredMs = Math.max(answeredMs, packet.awaitedMs);
  }
  return quiet;
}

/** True for an answer that hosts and routers limit: an ICMP error, also that of a router which refused the packet. */
function isLimited(packet: TracePacket & { readonly isRefused?: true }): boolean {
  const { answer, isRefused } = packet;
  return isRefused === true || (answer !== null && (answer.kind !== 'target' || answer.error !== null));
}
