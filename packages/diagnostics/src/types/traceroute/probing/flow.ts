import { randomBytes } from 'node:crypto';

import type { Family } from '@vantage/contract';

import type { PacketProtocol, ReceivedPacket } from '../../../sockets/packet-socket.ts';
import { addressBytes, addressText } from '@vantage/contract/address';
import { readU16, writeU16 } from '../../../sockets/wire/bytes.ts';
import { echoRequest, parseIcmp, type IcmpError } from '../../../sockets/wire/icmp.ts';
import {
  compensation,
  parseTcp,
  parseUdp,
  TCP_FLAGS,
  tcpSyn,
  udpDatagram,
  type Flow,
} from '../../../sockets/wire/transport.ts';

export interface FlowOptions {
  readonly protocol: PacketProtocol;
  readonly family: Family;
  /** ICMP identifier or source port. */
  readonly identifier: number;
  readonly source: string;
  readonly destination: string;
  /** Destination port; without meaning for ICMP. */
  readonly port: number;
  /** Says in the payload whose packets these are. */
  readonly tag: string;
}

/** An answer to one packet of a flow. */
export interface FlowAnswer {
  /** Number of the packet; null where the answer does not say which. */
  readonly index: number | null;
  /** Remainder of the number modulo `LENGTHS`, if the number itself may be wrong. */
  readonly remainder?: number;
  /** The ICMP error, or null where the target gave an answer of the protocol itself. */
  readonly error: IcmpError | null;
}

/**
 * Packets that a load balancer takes for one flow (Paris traceroute): every field that one may hash stays the same from
 * packet to packet, ICMP's checksum included. They are numbered where none looks: the ICMP sequence balanced by two
 * bytes of payload, the UDP checksum, the TCP sequence.
 */
export interface TraceFlow {
  /** The packet of a number from 0 to 65,000. */
  readonly packet: (index: number) => Uint8Array;
  /** Reads an answer; undefined for what answers none of this flow's packets. Total. */
  readonly match: (received: ReceivedPacket) => FlowAnswer | undefined;
}

const COOKIE_BYTES = 8;
/** Two bytes that balance, eight of cookie, two of number. */
const PREFIX_BYTES = 2 + COOKIE_BYTES + 2;
const MAX_TAG_BYTES = 64;
/** Checksums 0 and 0xffff are special in UDP. */
const CHECKSUMS = 0xfffe;
/**
 * Lengths of the datagrams of a flow. Address translation may change the checksum in a quotation of eight bytes, and never
 * the length, which no load balancer hashes (dublin-traceroute numbers packets by it).
 */
export const LENGTHS = 127;
const UDP_HEADER_BYTES = 8;

export function traceFlow(options: FlowOptions): TraceFlow {
  const canonical = { ...options, destination: addressText(addressBytes(options.destination)) };
  if (options.protocol === 'icmp') return icmpFlow(canonical);
  return options.protocol === 'udp' ? udpFlow(canonical) : tcpFlow(canonical);
}

function icmpFlow({ family, identifier, destination, tag }: FlowOptions): TraceFlow {
  const template = payloadTemplate(tag);
  const cookie = template.slice(2, 2 + COOKIE_BYTES);
  const packet = (index: number): Uint8Array => {
    const payload = template.slice();
    // In one's complement arithmetic the sequence and its complement add up to nothing.
    writeU16(payload, 0, ~(index + 1) & 0xffff);
    return echoRequest(family, identifier, index + 1, payload);
  };

  const match = (received: ReceivedPacket): FlowAnswer | undefined => {
    const message = received.protocol === 'icmp' ? parseIcmp(family, received.data) : undefined;
    if (message === undefined || !message.intact) return undefined;
    if (message.kind === 'echo-reply') {
      const isOurs = message.identifier === identifier && startsWith(message.payload.subarray(2), cookie) === 'yes';
      return isOurs ? { index: message.sequence - 1, error: null } : undefined;
    }
    const { quoted } = message;
    if (quoted.destination !== destination || quoted.payload.length < 8) return undefined;
    if (readU16(quoted.payload, 4) !== identifier) return undefined;
    const cookieQuoted = startsWith(quoted.payload.subarray(10), cookie);
    // Without the cookie the identifier and a number that was sent have to do: address translation restores the
    // identifier of a quotation, but not always its checksum.
    if (cookieQuoted === 'no') return undefined;
    return { index: readU16(quoted.payload, 6) - 1, error: message };
  };
  return { packet, match };
}

function udpFlow({ family, identifier, source, destination, port, tag }: FlowOptions): TraceFlow {
  const flow: Flow = { source, destination, sourcePort: identifier, destinationPort: port };
  const template = payloadTemplate(tag);
  const cookie = template.slice(2, 2 + COOKIE_BYTES);
  const firstChecksum = randomBytes(2).readUInt16BE() % CHECKSUMS;
  const packet = (index: number): Uint8Array => {
    const payload = new Uint8Array(template.length + (index % LENGTHS));
    payload.set(template);
    writeU16(payload, 2 + COOKIE_BYTES, index);
    writeU16(payload, 0, compensation(flow, payload, 1 + ((firstChecksum + index) % CHECKSUMS)));
    return udpDatagram(flow, payload);
  };

  const match = (received: ReceivedPacket): FlowAnswer | undefined => {
    if (received.protocol === 'udp') {
      const datagram = parseUdp(received.data);
      const isOurs = received.from === destination && isAnswerTo(flow, datagram);
      return isOurs ? { index: null, error: null } : undefined;
    }
    const error = quotedError(family, destination, received);
    const quoted = error === undefined ? undefined : parseUdp(error.quoted.payload);
    if (error === undefined || quoted === undefined || !isQuotationOf(flow, quoted)) return undefined;
    const cookieQuoted = startsWith(quoted.payload.subarray(2), cookie);
    if (cookieQuoted === 'no') return undefined;
    // Address translation may have changed the checksum; a number in a quoted payload is beyond doubt.
    const hasNumber = cookieQuoted === 'yes' && quoted.payload.length >= PREFIX_BYTES;
    if (hasNumber) return { index: readU16(quoted.payload, 2 + COOKIE_BYTES), error };
    const byChecksum = (quoted.checksum - 1 - firstChecksum + CHECKSUMS) % CHECKSUMS;
    const remainder = readU16(error.quoted.payload, 4) - UDP_HEADER_BYTES - template.length;
    const isKnown = remainder >= 0 && remainder < LENGTHS;
    if (!isKnown) return { index: byChecksum, error };
    return { index: byChecksum % LENGTHS === remainder ? byChecksum : null, remainder, error };
  };
  return { packet, match };
}

function tcpFlow({ family, identifier, source, destination, port }: FlowOptions): TraceFlow {
  const flow: Flow = { source, destination, sourcePort: identifier, destinationPort: port };
  const firstSequence = randomBytes(4).readUInt32BE();
  const indexOf = (sequence: number): number => (sequence - firstSequence) >>> 0;
  const packet = (index: number): Uint8Array => tcpSyn(flow, (firstSequence + index) >>> 0);

  const match = (received: ReceivedPacket): FlowAnswer | undefined => {
    if (received.protocol === 'tcp') {
      const segment = parseTcp(received.data);
      if (segment === undefined || received.from !== destination || !isAnswerTo(flow, segment)) return undefined;
      const { flags = 0, acknowledgment = 0 } = segment;
      if ((flags & (TCP_FLAGS.rst | TCP_FLAGS.ack)) === 0) return undefined;
      // A SYN takes one number: SYN-ACK and RST acknowledge the next (RFC 9293 section 3.10.7).
      return { index: indexOf(acknowledgment - 1), error: null };
    }
    const error = quotedError(family, destination, received);
    const quoted = error === undefined ? undefined : parseTcp(error.quoted.payload);
    if (error === undefined || quoted === undefined || !isQuotationOf(flow, quoted)) return undefined;
    return { index: indexOf(quoted.sequence), error };
  };
  return { packet, match };
}

interface Ports {
  readonly sourcePort: number;
  readonly destinationPort: number;
}

function isAnswerTo(flow: Flow, ports: Ports | undefined): boolean {
  return ports?.sourcePort === flow.destinationPort && ports.destinationPort === flow.sourcePort;
}

function isQuotationOf(flow: Flow, ports: Ports): boolean {
  return ports.sourcePort === flow.sourcePort && ports.destinationPort === flow.destinationPort;
}

function quotedError(family: Family, destination: string, received: ReceivedPacket): IcmpError | undefined {
  const message = received.protocol === 'icmp' ? parseIcmp(family, received.data) : undefined;
  if (message === undefined || message.kind === 'echo-reply' || !message.intact) return undefined;
  return message.quoted.destination === destination ? message : undefined;
}

function payloadTemplate(tag: string): Uint8Array {
  const words = Buffer.from(tag).subarray(0, MAX_TAG_BYTES);
  const payload = new Uint8Array(PREFIX_BYTES + words.length);
  payload.set(randomBytes(COOKIE_BYTES), 2);
  payload.set(words, PREFIX_BYTES);
  return payload;
}

/** `cut off` for a quotation that has nothing there, or the zeros with which RFC 4884 pads it. */
function startsWith(bytes: Uint8Array, cookie: Uint8Array): 'yes' | 'no' | 'cut off' {
  const there = bytes.subarray(0, cookie.length);
  if (there.every((byte) => byte === 0)) return 'cut off';
  if (there.length < cookie.length) return there.every((byte, at) => byte === cookie[at]) ? 'cut off' : 'no';
  return Buffer.compare(there, cookie) === 0 ? 'yes' : 'no';
}
