import { randomBytes } from 'node:crypto';

import type { Family } from '@vantage/contract';

import type { PacketProtocol, ReceivedPacket } from '../../../sockets/packet-socket.ts';
import { addressBytes, addressText } from '@vantage/contract/address';
import { readU16, writeU16 } from '../../../sockets/wire/bytes.ts';
import { echoRequest, parseIcmp, type IcmpError } from '../../../sockets/wire/icmp.ts';
import { COOKIE_BYTES, payloadTemplate, PREFIX_BYTES, startsWith } from './packet/payload.ts';
import { rewrittenIn } from './packet/rewritten.ts';
import type { RewrittenField } from '../reply-fields.ts';
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
  /** Identifies these packets in the payload. */
  readonly tag: string;
  /**
   * Size of each packet with its IP header. Without it packets are small, and those of udp differ in length
   * (`LENGTHS`).
   */
  readonly bytes?: number | undefined;
}

/** An answer to one packet of a flow. */
export interface FlowAnswer {
  /** Number of the packet; null if the answer does not reveal it. */
  readonly index: number | null;
  /** Remainder of the number modulo `LENGTHS`, if the number itself may be wrong. */
  readonly remainder?: number;
  /** The ICMP error, or null if the target answered with the protocol itself. */
  readonly error: IcmpError | null;
  /** Absent for a bare TCP ACK, which concerns another connection (RFC 5961 section 4). */
  readonly reply?: 'accepted' | 'reset';
}

/**
 * Packets that a load balancer should treat as one flow (Paris traceroute): addresses, ports and ICMP’s checksum are
 * the same in each packet. Their number is in other fields: the ICMP sequence, compensated by two bytes of payload, the
 * UDP checksum, the TCP sequence.
 */
export interface TraceFlow {
  /** The packet of a number from 0 to 65,000. */
  readonly packet: (index: number) => Uint8Array;
  /** Parses an answer; undefined if it answers none of this flow's packets. Never throws. */
  readonly match: (received: ReceivedPacket) => FlowAnswer | undefined;
  /**
   * Fields of the quotation in an ICMP error that differ from the packet `index`; the error is one that `match` has
   * assigned to it.
   */
  readonly rewritten: (index: number, error: IcmpError) => readonly RewrittenField[];
}

/** Number of usable checksums: 0 and 0xffff are special in UDP. */
const CHECKSUMS = 0xfffe;
/**
 * Number of different lengths of the datagrams of a flow: the length reveals the packet number modulo `LENGTHS`.
 * Address translation may change the checksum in a quotation of eight bytes, but not the length. Packets of a requested
 * size all have that length, so such a quotation cannot be assigned to one of them by it.
 */
export const LENGTHS = 127;
const HEADER_BYTES = 8;
/** Size of the TCP header of a SYN with one option, bytes. */
const TCP_BYTES = 24;

export function traceFlow(options: FlowOptions): TraceFlow {
  const canonical = { ...options, destination: addressText(addressBytes(options.destination)) };
  if (options.protocol === 'icmp') return icmpFlow(canonical);
  return options.protocol === 'udp' ? udpFlow(canonical) : tcpFlow(canonical);
}

function icmpFlow(options: FlowOptions): TraceFlow {
  const { family, identifier, destination } = options;
  const template = payloadTemplate(options);
  const cookie = template.slice(2, 2 + COOKIE_BYTES);
  const packet = (index: number): Uint8Array => {
    const payload = template.slice();
    // In one's complement arithmetic, the sequence and its complement add up to zero.
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
    if (quoted.payload.length < 8 || readU16(quoted.payload, 4) !== identifier) return undefined;
    const cookieQuoted = startsWith(quoted.payload.subarray(10), cookie);
    if (quoted.destination !== destination && cookieQuoted !== 'yes') return undefined;
    // Without the cookie, the identifier and a sent number must suffice: address translation may restore the identifier
    // of a quotation, but not its checksum.
    if (cookieQuoted === 'no') return undefined;
    return { index: readU16(quoted.payload, 6) - 1, error: message };
  };
  return { packet, match, rewritten: (index, error) => rewrittenIn(error, packet(index), options) };
}

function udpFlow(options: FlowOptions): TraceFlow {
  const { family, identifier, source, destination, port } = options;
  const flow: Flow = { source, destination, sourcePort: identifier, destinationPort: port };
  const template = payloadTemplate(options);
  const lengths = options.bytes === undefined ? LENGTHS : 1;
  const cookie = template.slice(2, 2 + COOKIE_BYTES);
  const firstChecksum = randomBytes(2).readUInt16BE() % CHECKSUMS;
  const packet = (index: number): Uint8Array => {
    const payload = new Uint8Array(template.length + (index % lengths));
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
    const error = quotedError(family, received);
    const quoted = error === undefined ? undefined : parseUdp(error.quoted.payload);
    if (error === undefined || quoted === undefined) return undefined;
    const cookieQuoted = startsWith(quoted.payload.subarray(2), cookie);
    const isAddressed = error.quoted.destination === destination && isQuotationOf(flow, quoted);
    if (cookieQuoted === 'no' || (!isAddressed && cookieQuoted !== 'yes')) return undefined;
    // Address translation may have changed the checksum; a number in a quoted payload is beyond doubt.
    const hasNumber = cookieQuoted === 'yes' && quoted.payload.length >= PREFIX_BYTES;
    if (hasNumber) return { index: readU16(quoted.payload, 2 + COOKIE_BYTES), error };
    const byChecksum = (quoted.checksum - 1 - firstChecksum + CHECKSUMS) % CHECKSUMS;
    const remainder = readU16(error.quoted.payload, 4) - HEADER_BYTES - template.length;
    const isKnown = lengths > 1 && remainder >= 0 && remainder < lengths;
    if (!isKnown) return { index: byChecksum, error };
    return { index: byChecksum % lengths === remainder ? byChecksum : null, remainder, error };
  };
  return { packet, match, rewritten: (index, error) => rewrittenIn(error, packet(index), options) };
}

function tcpFlow(options: FlowOptions): TraceFlow {
  const { family, identifier, source, destination, port } = options;
  const flow: Flow = { source, destination, sourcePort: identifier, destinationPort: port };
  const firstSequence = randomBytes(4).readUInt32BE();
  const data = options.bytes === undefined ? new Uint8Array() : payloadTemplate({ ...options, headerBytes: TCP_BYTES });
  const indexOf = (sequence: number): number => (sequence - firstSequence) >>> 0;
  const packet = (index: number): Uint8Array => tcpSyn(flow, (firstSequence + index) >>> 0, data);

  const match = (received: ReceivedPacket): FlowAnswer | undefined => {
    if (received.protocol === 'tcp') {
      const segment = parseTcp(received.data);
      if (segment === undefined || received.from !== destination || !isAnswerTo(flow, segment)) return undefined;
      const { flags = 0, acknowledgment = 0 } = segment;
      if ((flags & (TCP_FLAGS.rst | TCP_FLAGS.ack)) === 0) return undefined;
      // A SYN takes one number: SYN-ACK and RST acknowledge the next (RFC 9293 section 3.10.7), or the data too.
      const index = indexOf(acknowledgment - 1);
      const number = index < data.length ? index : (index - data.length) >>> 0;
      const reply = (flags & TCP_FLAGS.rst) !== 0 ? 'reset' : (flags & TCP_FLAGS.syn) !== 0 ? 'accepted' : undefined;
      return { index: number, error: null, ...(reply && { reply }) };
    }
    const error = quotedError(family, received);
    const quoted = error === undefined ? undefined : parseTcp(error.quoted.payload);
    if (error?.quoted.destination !== destination || !quoted || !isQuotationOf(flow, quoted)) return undefined;
    return { index: indexOf(quoted.sequence), error };
  };
  return { packet, match, rewritten: (index, error) => rewrittenIn(error, packet(index), options) };
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

function quotedError(family: Family, received: ReceivedPacket): IcmpError | undefined {
  const message = received.protocol === 'icmp' ? parseIcmp(family, received.data) : undefined;
  return message === undefined || message.kind === 'echo-reply' || !message.intact ? undefined : message;
}
