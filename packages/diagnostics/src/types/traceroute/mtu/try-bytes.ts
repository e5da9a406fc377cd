import { randomBytes } from 'node:crypto';

import type { Target } from '@vantage/contract';

import type { ReceivedPacket } from '../../../sockets/packet-socket.ts';
import { addressBytes, addressText } from '@vantage/contract/address';
import { readU16 } from '../../../sockets/wire/bytes.ts';
import { echoRequest, parseIcmp } from '../../../sockets/wire/icmp.ts';
import { tryPacket, type Answer, type SharedSocket } from './try-packet.ts';

const ECHO_HEADER_BYTES = { 4: 28, 6: 48 } as const;
/** Size of an echo request's header, and of the random start of its payload that identifies it. */
const [ECHO_BYTES, COOKIE_BYTES] = [8, 8];

/** Sends an echo request of this size, IP header included, that no router may fragment, and awaits its answer. */
export function tryBytes(
  socket: SharedSocket,
  { family, address }: Pick<Target, 'family' | 'address'>,
  sequence: number,
  bytes: number,
  waitMs: () => number,
  signal: AbortSignal,
): Promise<Answer> {
  const payload = randomBytes(bytes - ECHO_HEADER_BYTES[family]);
  const packet = echoRequest(family, socket.identifier, sequence, payload);
  const destination = addressText(addressBytes(address));
  const answer = (received: ReceivedPacket): Answer | undefined => answerIn(received, family, packet, destination);
  return tryPacket(socket, { packet, address, bytes, answerIn: answer }, waitMs, signal);
}

/** Interprets a received packet as the answer to this request; undefined if it does not answer it. */
function answerIn(
  received: ReceivedPacket,
  family: Target['family'],
  request: Uint8Array,
  destination: string,
): Answer | undefined {
  const message = received.protocol === 'icmp' ? parseIcmp(family, received.data) : undefined;
  if (message === undefined || !message.intact) return undefined;
  if (message.kind === 'echo-reply') {
    return Buffer.compare(message.payload, request.subarray(ECHO_BYTES)) === 0 ? { kind: 'arrived' } : undefined;
  }
  const { quoted } = message;
  const isOwn = quoted.destination === destination && isQuotationOf(request, quoted.payload);
  return message.kind === 'too-big' && isOwn ? { kind: 'too-big', mtu: message.mtu } : undefined;
}

/**
 * Whether a quotation matches the packet: the header, and the quoted part of the random payload or zeros in its place.
 */
function isQuotationOf(request: Uint8Array, quoted: Uint8Array): boolean {
  if (quoted.length < ECHO_BYTES) return false;
  // The sender of ICMPv6 leaves the checksum to the kernel, so it is 0 in the request.
  const isKnown = readU16(request, 2) === 0 || readU16(request, 2) === readU16(quoted, 2);
  const start = quoted.subarray(4, ECHO_BYTES + COOKIE_BYTES);
  const isPadded = quoted.subarray(ECHO_BYTES, ECHO_BYTES + COOKIE_BYTES).every((byte) => byte === 0);
  const compared = isPadded ? start.subarray(0, ECHO_BYTES - 4) : start;
  return isKnown && compared.every((byte, at) => byte === request[4 + at]);
}
