import type { Family } from '@vantage/contract';

import type { PacketProtocol } from '../packet-socket.ts';
import { readU16 } from './bytes.ts';
import { ICMP_TYPES, parseIcmp } from './icmp.ts';
import { IPPROTO } from './ip.ts';

/** Identity of the owner: protocol of the sent packets, and their identifier or local port. */
export interface PacketOwner {
  readonly protocol: PacketProtocol;
  readonly identifier: number;
}

/**
 * The owner of the packet to which a received packet responds, whether or not its socket is open; undefined for
 * messages that respond to none, such as echo requests. Never throws.
 *
 * @param protocol the protocol of the received packet
 * @param data the packet without its IP header
 */
export function ownerOf(family: Family, protocol: PacketProtocol, data: Uint8Array): PacketOwner | undefined {
  if (protocol !== 'icmp') return data.length < 8 ? undefined : { protocol, identifier: readU16(data, 2) };
  const message = parseIcmp(family, data);
  if (message === undefined) return undefined;
  if (message.kind === 'echo-reply') return { protocol: 'icmp', identifier: message.identifier };

  const { quoted } = message;
  if (quoted.payload.length < 8) return undefined;
  if (quoted.protocol === IPPROTO.udp) return { protocol: 'udp', identifier: readU16(quoted.payload, 0) };
  if (quoted.protocol === IPPROTO.tcp) return { protocol: 'tcp', identifier: readU16(quoted.payload, 0) };
  const isEcho =
    quoted.protocol === (family === 4 ? IPPROTO.icmp : IPPROTO.icmpv6) &&
    quoted.payload[0] === ICMP_TYPES[family].echoRequest;
  return isEcho ? { protocol: 'icmp', identifier: readU16(quoted.payload, 4) } : undefined;
}
