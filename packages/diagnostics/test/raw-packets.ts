import { isIPv6 } from 'node:net';

import type { Family } from '@vantage/contract';

import { addressBytes } from '@vantage/contract/address';
import { writeU16, writeU32 } from '../src/sockets/wire/bytes.ts';
import { checksum } from '../src/sockets/wire/checksum.ts';
import { ICMP_TYPES } from '../src/sockets/wire/icmp.ts';
import { IPPROTO } from '../src/sockets/wire/ip.ts';

/** An IP packet as a router quotes it, without options. */
export function ipPacket(
  source: string,
  destination: string,
  protocol: number,
  payload: Uint8Array,
  hopLimit = 1,
): Uint8Array {
  const isV6 = isIPv6(destination);
  const header = new Uint8Array(isV6 ? 40 : 20);
  header[0] = isV6 ? 0x60 : 0x45;
  writeU16(header, isV6 ? 4 : 2, isV6 ? payload.length : 20 + payload.length);
  header[isV6 ? 6 : 9] = protocol;
  header[isV6 ? 7 : 8] = hopLimit;
  header.set(addressBytes(source), isV6 ? 8 : 12);
  header.set(addressBytes(destination), isV6 ? 24 : 16);
  if (!isV6) writeU16(header, 10, checksum(header));
  return Buffer.concat([header, payload]);
}

/** The reply to an echo request, byte by byte. */
export function echoReplyTo(family: Family, request: Uint8Array): Uint8Array {
  const reply = Uint8Array.from(request);
  reply[0] = ICMP_TYPES[family].echoReply;
  return withChecksum(family, reply);
}

/** An ICMP error with its quotation; `word` is the second word of its header: an MTU, or the length of RFC 4884. */
export function icmpError(family: Family, type: number, code: number, quoted: Uint8Array, word = 0): Uint8Array {
  const message = new Uint8Array(8 + quoted.length);
  message[0] = type;
  message[1] = code;
  writeU32(message, 4, word);
  message.set(quoted, 8);
  return withChecksum(family, message);
}

export function withChecksum(family: Family, message: Uint8Array): Uint8Array {
  writeU16(message, 2, 0);
  if (family === 4) writeU16(message, 2, checksum(message));
  return message;
}

/** A time-exceeded error of a router about a sent packet. */
export function timeExceeded(
  family: Family,
  source: string,
  destination: string,
  protocol: number,
  packet: Uint8Array,
): Uint8Array {
  return icmpError(family, ICMP_TYPES[family].timeExceeded, 0, ipPacket(source, destination, protocol, packet));
}

export function protocolNumber(family: Family, protocol: 'icmp' | 'udp' | 'tcp'): number {
  return protocol === 'icmp' && family === 6 ? IPPROTO.icmpv6 : IPPROTO[protocol];
}
