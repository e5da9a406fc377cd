import { addressBytes } from '@vantage/contract/address';
import { writeU16, writeU32 } from './bytes.ts';
import { checksum, pseudoHeader } from './checksum.ts';
import { IPPROTO } from './ip.ts';

export interface LabelledHeader {
  readonly source: string;
  readonly destination: string;
  readonly protocol: number;
  readonly hopLimit: number;
  readonly label: number;
  readonly dscp: number;
}

/**
 * An IPv6 packet with its header (RFC 8200 section 3). With a given header the kernel computes no checksum, so that of
 * an ICMPv6 message is filled in here.
 */
export function labelledPacket(payload: Uint8Array, header: LabelledHeader): Uint8Array {
  const { source, destination, protocol, hopLimit, label, dscp } = header;
  const packet = new Uint8Array(40 + payload.length);
  writeU32(packet, 0, 0x6000_0000 + dscp * 0x40_0000 + label);
  writeU16(packet, 4, payload.length);
  packet[6] = protocol;
  packet[7] = hopLimit;
  packet.set(addressBytes(source), 8);
  packet.set(addressBytes(destination), 24);
  packet.set(payload, 40);
  if (protocol === IPPROTO.icmpv6) {
    const message = packet.subarray(40);
    writeU16(message, 2, 0);
    writeU16(message, 2, checksum(pseudoHeader(source, destination, protocol, message.length), message));
  }
  return packet;
}
