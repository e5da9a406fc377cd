import { isPortUnreachable } from '../../../sockets/icmp/icmp-failure.ts';
import type { PacketProtocol } from '../../../sockets/packet-socket.ts';
import type { IcmpError } from '../../../sockets/wire/icmp.ts';
import type { TraceAnswer, TracePacket } from './trace.ts';

export interface Asked {
  readonly protocol: PacketProtocol;
  readonly destination: string;
}

/** Whatever the target itself answers shows that the packet reached it. */
export function kindOf(
  error: IcmpError | null,
  from: string,
  { protocol, destination }: Asked,
  packets: readonly TracePacket[],
): TraceAnswer['kind'] {
  if (error === null || (from === destination && error.kind !== 'time-exceeded')) return 'target';
  if (error.kind === 'time-exceeded') return 'expired';
  // A packet that the probe's own firewall refused did not leave it.
  const isOwn = from === error.quoted.source;
  const isArrival = protocol === 'udp' && !isOwn && isPortUnreachable(error) && !isRouter(from, packets);
  return isArrival ? 'target' : 'refused';
}

/**
 * A port is refused by the host that the datagram came to, maybe in the name of another of its addresses, or by a filter
 * on the way (`reject` of Linux). The filter is a router: packets that end there run out of hops in the same name, which
 * may become known only afterwards.
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
