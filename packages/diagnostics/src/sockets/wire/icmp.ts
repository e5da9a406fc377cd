import type { Family } from '@vantage/contract';

import { readU16, readU32, writeU16 } from './bytes.ts';
import { checksum, onesComplementSum } from './checksum.ts';
import { parseExtensions, type InterfaceObject, type MplsEntry } from './extensions.ts';
import { parseIp, type IpPacket } from './ip.ts';

/** Type numbers of RFC 792 and RFC 4443. */
export const ICMP_TYPES = {
  4: { echoRequest: 8, echoReply: 0, unreachable: 3, timeExceeded: 11, parameterProblem: 12 },
  6: { echoRequest: 128, echoReply: 129, unreachable: 1, packetTooBig: 2, timeExceeded: 3, parameterProblem: 4 },
} as const;

/** The types of messages that `parseIcmp` reads. */
export function receivedIcmpTypes(family: Family): readonly number[] {
  const { echoRequest: _, ...received } = ICMP_TYPES[family];
  return Object.values(received);
}

export type IcmpKind = 'unreachable' | 'too-big' | 'time-exceeded' | 'parameter-problem';

export interface EchoReply {
  readonly kind: 'echo-reply';
  readonly identifier: number;
  readonly sequence: number;
  readonly payload: Uint8Array;
  /** False if the checksum is wrong. Always true for IPv6, because the kernel drops such packets. */
  readonly intact: boolean;
}

export interface IcmpError {
  readonly kind: IcmpKind;
  readonly type: number;
  readonly code: number;
  /** MTU of the next hop, for `too-big`, at most 65,535; 0 if not stated (RFC 1191 section 4), and for other kinds. */
  readonly mtu: number;
  /** The packet that the message is about, as far as it was quoted. */
  readonly quoted: IpPacket;
  readonly mpls: readonly MplsEntry[];
  readonly interfaces: readonly InterfaceObject[];
  readonly intact: boolean;
}

export type IcmpMessage = EchoReply | IcmpError;

/**
 * An echo request. For IPv6 the checksum stays 0: it is filled in when the packet is sent.
 *
 * @param payload follows the eight bytes of the header
 */
export function echoRequest(family: Family, identifier: number, sequence: number, payload: Uint8Array): Uint8Array {
  const packet = new Uint8Array(8 + payload.length);
  packet[0] = ICMP_TYPES[family].echoRequest;
  writeU16(packet, 4, identifier);
  writeU16(packet, 6, sequence);
  packet.set(payload, 8);
  if (family === 4) writeU16(packet, 2, checksum(packet));
  return packet;
}

/**
 * Reads an echo reply or an error about a packet; undefined for every other message and for malformed ones. Never
 * throws.
 */
export function parseIcmp(family: Family, message: Uint8Array): IcmpMessage | undefined {
  if (message.length < 8) return undefined;
  const intact = family === 6 || onesComplementSum(message) === 0xffff;
  if (message[0] === ICMP_TYPES[family].echoReply) {
    // The code is ignored, although RFC 792 requires zero.
    const identifier = readU16(message, 4);
    return { kind: 'echo-reply', identifier, sequence: readU16(message, 6), payload: message.subarray(8), intact };
  }
  const kind = errorKind(family, message[0]!, message[1]!);
  return kind === undefined ? undefined : parseError(family, kind, message, intact);
}

function errorKind(family: Family, type: number, code: number): IcmpKind | undefined {
  if (family === 4 && type === ICMP_TYPES[4].unreachable) return code === 4 ? 'too-big' : 'unreachable';
  if (family === 6 && type === ICMP_TYPES[6].packetTooBig) return 'too-big';
  if (type === ICMP_TYPES[family].unreachable) return 'unreachable';
  if (type === ICMP_TYPES[family].timeExceeded) return 'time-exceeded';
  if (type === ICMP_TYPES[family].parameterProblem) return 'parameter-problem';
  return undefined;
}

function parseError(family: Family, kind: IcmpKind, message: Uint8Array, intact: boolean): IcmpError | undefined {
  const body = message.subarray(8);
  // RFC 4884 section 4: length of the quotation in 32-bit words (IPv4, byte 5) or 64-bit words (IPv6, byte 4).
  const statedBytes = family === 4 ? message[5]! * 4 : kind === 'too-big' ? 0 : message[4]! * 8;
  const extensions = parseExtensions(body, statedBytes);
  const quotedBytes = extensions === undefined ? body.length : extensions.quotedBytes;
  const quoted = parseIp(family, body.subarray(0, quotedBytes));
  if (quoted === undefined) return undefined;
  const mtu = kind !== 'too-big' ? 0 : family === 4 ? readU16(message, 6) : Math.min(readU32(message, 4), 0xffff);
  const { mpls = [], interfaces = [] } = extensions ?? {};
  return { kind, type: message[0]!, code: message[1]!, mtu, quoted, mpls, interfaces, intact };
}
