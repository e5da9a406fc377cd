import { readU16, readU32, writeU16, writeU32 } from './bytes.ts';
import { checksum, onesComplementSum, pseudoHeader } from './checksum.ts';
import { IPPROTO } from './ip.ts';

export interface Flow {
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number;
  readonly destinationPort: number;
}

/** A UDP datagram (RFC 768). A computed checksum of zero goes out as 0xffff: zero means none. */
export function udpDatagram(flow: Flow, payload: Uint8Array): Uint8Array {
  const datagram = new Uint8Array(8 + payload.length);
  writeU16(datagram, 0, flow.sourcePort);
  writeU16(datagram, 2, flow.destinationPort);
  writeU16(datagram, 4, datagram.length);
  datagram.set(payload, 8);
  const sum = checksum(pseudoHeader(flow.source, flow.destination, IPPROTO.udp, datagram.length), datagram);
  writeU16(datagram, 6, sum === 0 ? 0xffff : sum);
  return datagram;
}

/**
 * The 16-bit word that brings a datagram's checksum to a wanted value, when it replaces a word of zero in the payload.
 * So the checksum can number the packets while ports and lengths stay those of one flow (Paris traceroute).
 *
 * @param wanted 1…0xfffe
 */
export function compensation(flow: Flow, payload: Uint8Array, wanted: number): number {
  const datagram = udpDatagram(flow, payload);
  writeU16(datagram, 6, 0);
  const sum = onesComplementSum(pseudoHeader(flow.source, flow.destination, IPPROTO.udp, datagram.length), datagram);
  // The final sum must be ~wanted; in one's complement, subtracting is adding the complement.
  const word = (~wanted & 0xffff) + (~sum & 0xffff);
  return word > 0xffff ? (word & 0xffff) + 1 : word;
}

export const TCP_FLAGS = { fin: 1, syn: 2, rst: 4, psh: 8, ack: 16 } as const;

/**
 * A TCP SYN (RFC 9293 section 3.1) with one option, the maximum segment size: some filters drop a SYN without any.
 *
 * @param data fills the segment to a size
 */
export function tcpSyn(flow: Flow, sequence: number, data: Uint8Array = new Uint8Array()): Uint8Array {
  const headerBytes = 24;
  const segment = new Uint8Array(headerBytes + data.length);
  writeU16(segment, 0, flow.sourcePort);
  writeU16(segment, 2, flow.destinationPort);
  writeU32(segment, 4, sequence);
  segment[12] = (headerBytes / 4) << 4;
  segment[13] = TCP_FLAGS.syn;
  writeU16(segment, 14, 65_535);
  segment.set([2, 4, 1460 >> 8, 1460 & 0xff], 20);
  segment.set(data, headerBytes);
  writeU16(segment, 16, checksum(pseudoHeader(flow.source, flow.destination, IPPROTO.tcp, segment.length), segment));
  return segment;
}

export interface UdpHeader {
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly checksum: number;
  /** The received part: a quotation may be cut. */
  readonly payload: Uint8Array;
}

/** Reads the beginning of a datagram, as an ICMP error quotes it; undefined when cut off within its header. */
export function parseUdp(bytes: Uint8Array): UdpHeader | undefined {
  if (bytes.length < 8) return undefined;
  return {
    sourcePort: readU16(bytes, 0),
    destinationPort: readU16(bytes, 2),
    checksum: readU16(bytes, 6),
    payload: bytes.subarray(8),
  };
}

export interface TcpHeader {
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly sequence: number;
  /** Undefined, like `flags`, if the quoted packet is cut before the flags. */
  readonly acknowledgment: number | undefined;
  readonly flags: number | undefined;
}

/** Reads the beginning of a segment; undefined for less than the eight bytes that every ICMP error quotes (RFC 792). */
export function parseTcp(bytes: Uint8Array): TcpHeader | undefined {
  if (bytes.length < 8) return undefined;
  return {
    sourcePort: readU16(bytes, 0),
    destinationPort: readU16(bytes, 2),
    sequence: readU32(bytes, 4),
    acknowledgment: bytes.length >= 14 ? readU32(bytes, 8) : undefined,
    flags: bytes.length >= 14 ? bytes[13] : undefined,
  };
}
