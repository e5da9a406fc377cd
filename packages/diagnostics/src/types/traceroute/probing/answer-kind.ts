import { isUndelivered } from '../../../shared/icmp-contract.ts';
import { isPortUnreachable } from '../../../sockets/icmp/icmp-failure.ts';
import type { PacketProtocol, ReceivedPacket } from '../../../sockets/packet-socket.ts';
import type { IcmpError } from '../../../sockets/wire/icmp.ts';
import type { FlowAnswer, TraceFlow } from './flow.ts';
import type { TraceAnswer, TracePacket } from './trace.ts';
import { MAX_WAIT_MS } from './waits.ts';

export interface TraceDestination {
  readonly protocol: PacketProtocol;
  readonly destination: string;
}

/**
 * Records the first answer to a packet. A further one is only counted as a duplicate; over TCP only an ICMP error is,
 * since a target may repeat its SYN-ACK. An answer that the packet process timed after a stall is not recorded.
 *
 * @returns whether it was recorded
 */
export function takeAnswer(
  packet: TracePacket,
  { error, reply }: FlowAnswer,
  { from, receivedMs, clock, hopLimit }: ReceivedPacket,
  plan: TraceDestination & { readonly flows: readonly { readonly flow: TraceFlow }[] },
  packets: readonly TracePacket[],
): boolean {
  if (packet.answer !== null) {
    const isRepeated = plan.protocol === 'tcp' && error === null;
    if (!isRepeated) packet.duplicates = (packet.duplicates ?? 0) + 1;
    return false;
  }
  // After a stall, a time taken by the packet process says nothing about the round trip.
  if (packet.isDoubtful === true && clock === 'process') {
    packet.isLeftOut = true;
    return false;
  }
  packet.isLeftOut = false;
  const rewritten = error === null ? [] : plan.flows[packet.flow]!.flow.rewritten(packet.index, error);
  const kind = kindOf(error, from, plan, packets);
  packet.answer = { from, receivedMs, clock, hopLimit, error, kind, rewritten, ...(reply && { reply }) };
  if (kind === 'expired') demoteFilters(from, plan.destination, packets);
  return true;
}

/** True for a reply after the maximum wait; notes that it was late. The packet counts as lost, as in ping. */
export function isTooLate(packet: TracePacket, { receivedMs }: ReceivedPacket): boolean {
  if (packet.answer !== null || packet.sentMs === null || receivedMs - packet.sentMs <= MAX_WAIT_MS) return false;
  packet.isLate = true;
  return true;
}

/**
 * An answer of the target itself shows that the packet reached it. Time exceeded does not, and unreachable networks and
 * hosts need not: a load balancer or NAT at its address sends them about the hosts behind it, or a firewall there.
 */
function kindOf(
  error: IcmpError | null,
  from: string,
  { protocol, destination }: TraceDestination,
  packets: readonly TracePacket[],
): TraceAnswer['kind'] {
  if (error === null) return 'target';
  if (error.kind === 'time-exceeded') return 'expired';
  if (from === destination) return isUndelivered(destination.includes(':') ? 6 : 4, error) ? 'refused' : 'target';
  // A packet that the probe's own firewall refused did not leave it.
  const isOwn = from === error.quoted.source;
  const isArrival = protocol === 'udp' && !isOwn && isPortUnreachable(error) && !isRouter(from, packets);
  return isArrival ? 'target' : 'refused';
}

/**
 * Stops counting answers from the address of a router as the target's. A port is refused by the host that received the
 * datagram, maybe from another of its addresses, or by a filter on the path (`reject` of Linux). A filter is a router:
 * packets whose TTL ends there expire with the same address, which may become known only afterwards.
 */
export function demoteFilters(router: string, destination: string, packets: readonly TracePacket[]): void {
  if (router === destination) return;
  for (const packet of packets) {
    const { answer } = packet;
    if (answer?.kind === 'target' && answer.from === router) packet.answer = { ...answer, kind: 'refused' };
  }
}

function isRouter(address: string, packets: readonly TracePacket[]): boolean {
  return packets.some(({ answer }) => answer?.kind === 'expired' && answer.from === address);
}
