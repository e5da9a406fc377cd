import { isIPv4, isIPv6 } from 'node:net';

import type { Family } from '@vantage/contract';

import { fieldReader, fieldWriter, type FieldReader } from './fields.ts';
import { MAX_FRAME_BYTES } from './frames.ts';
import { MAX_PACKET_BYTES, type Clock, type FlowLabel } from '../packet-socket.ts';
import type { PacketProtocol, ReceivedPacket } from '../packet-socket.ts';

/**
 * Requests of the agent to its packet process. `expect` announces the identifiers of further ICMP sockets, `watch`
 * opens sockets for ICMP errors only. `ref` identifies a socket, `token` an expected answer.
 */
export type Request =
  | {
      readonly op: 'open';
      readonly ref: number;
      readonly family: Family;
      readonly protocol: PacketProtocol;
      readonly identifier: number;
      /** False for a socket that cannot fail to open: there is no answer. */
      readonly isAwaited: boolean;
    }
  | {
      readonly op: 'watch';
      readonly ref: number;
      readonly family: Family;
      readonly protocol: PacketProtocol;
      readonly identifier: number;
      readonly recallMs: number;
    }
  | { readonly op: 'expect'; readonly family: Family; readonly identifiers: readonly number[] }
  | { readonly op: 'close'; readonly ref: number }
  | {
      readonly op: 'send';
      readonly ref: number;
      readonly token: number;
      readonly ttl: number;
      readonly destination: string;
      /** Flow label of an IPv6 packet, and the source address for its header; null leaves both to the kernel. */
      readonly label: FlowLabel | null;
      /** Differentiated services code point, 0 to 63. */
      readonly dscp: number;
      readonly packet: Uint8Array;
    }
  | { readonly op: 'source'; readonly token: number; readonly destination: string };

/** Answers of the packet process. `errno` is empty on success, else the name of the error, such as EPERM. */
export type Answer =
  | { readonly op: 'ready'; readonly errno: string; readonly reason: string }
  | { readonly op: 'opened'; readonly ref: number; readonly errno: string }
  | { readonly op: 'sent'; readonly token: number; readonly sentMs: number; readonly errno: string }
  | { readonly op: 'source'; readonly token: number; readonly address: string; readonly errno: string }
  | ({ readonly op: 'packet'; readonly ref: number } & ReceivedPacket);

const requestOps = ['open', 'close', 'send', 'source', 'watch', 'expect'] as const;
const answerOps = ['ready', 'opened', 'sent', 'source', 'packet'] as const;
const protocols: readonly PacketProtocol[] = ['icmp', 'udp', 'tcp'];
const clocks: readonly Clock[] = ['kernel', 'process'];

/** Value for an unknown hop limit. */
const NO_HOP_LIMIT = 0xffff;

export function encodeRequest(request: Request): Buffer {
  const writer = fieldWriter(MAX_FRAME_BYTES).u8(requestOps.indexOf(request.op));
  if (request.op === 'close') return writer.u32(request.ref).done();
  if (request.op === 'source') return writer.u32(request.token).text(request.destination).done();
  if (request.op === 'expect') {
    const { family, identifiers } = request;
    writer.u8(family).u16(identifiers.length);
    for (const identifier of identifiers) writer.u16(identifier);
    return writer.done();
  }
  if (request.op === 'open') {
    const { ref, family, protocol, identifier, isAwaited } = request;
    writer.u32(ref).u8(family).u8(protocols.indexOf(protocol)).u16(identifier);
    return writer.u8(isAwaited ? 1 : 0).done();
  }
  if (request.op === 'watch') {
    const { ref, family, protocol, identifier, recallMs } = request;
    return writer.u32(ref).u8(family).u8(protocols.indexOf(protocol)).u16(identifier).u16(recallMs).done();
  }
  const { ref, token, ttl, destination, label, dscp, packet } = request;
  writer.u32(ref).u32(token).u8(ttl).u8(dscp).text(destination);
  return writer
    .u32(label?.label ?? 0)
    .text(label?.source ?? '')
    .rest(packet)
    .done();
}

/** @throws RangeError for a malformed message */
export function decodeRequest(body: Buffer): Request {
  const reader = fieldReader(body);
  const op = entry(requestOps, reader.u8());
  if (op === 'close') return ended(reader, { op, ref: reader.u32() });
  if (op === 'source') return ended(reader, { op, token: reader.u32(), destination: addressField(reader) });
  if (op === 'expect') {
    const [family, count] = [familyField(reader), reader.u16()];
    return ended(reader, { op, family, identifiers: Array.from({ length: count }, () => reader.u16()) });
  }
  if (op === 'open' || op === 'watch') {
    const [ref, family, protocol] = [reader.u32(), familyField(reader), entry(protocols, reader.u8())];
    const socket = { ref, family, protocol, identifier: reader.u16() };
    if (op === 'open') return ended(reader, { op, ...socket, isAwaited: reader.u8() === 1 });
    return ended(reader, { op, ...socket, recallMs: reader.u16() });
  }
  const [ref, token, ttl, dscp] = [reader.u32(), reader.u32(), reader.u8(), reader.u8()];
  if (ttl === 0) throw new RangeError('A TTL of zero.');
  if (dscp > 63) throw new RangeError(`DSCP ${dscp}.`);
  const [destination, label] = [addressField(reader), labelField(reader)];
  return { op, ref, token, ttl, destination, label, dscp, packet: packetField(reader) };
}

export function encodeAnswer(answer: Answer): Buffer {
  const writer = fieldWriter(MAX_FRAME_BYTES).u8(answerOps.indexOf(answer.op));
  if (answer.op === 'ready') return writer.text(answer.errno).text(answer.reason).done();
  if (answer.op === 'opened') return writer.u32(answer.ref).text(answer.errno).done();
  if (answer.op === 'sent') return writer.u32(answer.token).f64(answer.sentMs).text(answer.errno).done();
  if (answer.op === 'source') return writer.u32(answer.token).text(answer.address).text(answer.errno).done();
  const { ref, protocol, hopLimit, receivedMs, clock, from, data } = answer;
  writer
    .u32(ref)
    .u8(protocols.indexOf(protocol))
    .u16(hopLimit ?? NO_HOP_LIMIT)
    .u8(clocks.indexOf(clock));
  return writer.f64(receivedMs).text(from).rest(data).done();
}

/** @throws RangeError for a malformed message */
export function decodeAnswer(body: Buffer): Answer {
  const reader = fieldReader(body);
  const op = entry(answerOps, reader.u8());
  if (op === 'ready') return ended(reader, { op, errno: reader.text(), reason: reader.text() });
  if (op === 'opened') return ended(reader, { op, ref: reader.u32(), errno: reader.text() });
  if (op === 'sent') return ended(reader, { op, token: reader.u32(), sentMs: timeField(reader), errno: reader.text() });
  if (op === 'source') {
    return ended(reader, { op, token: reader.u32(), address: reader.text(), errno: reader.text() });
  }
  const [ref, protocol, hopLimit] = [reader.u32(), entry(protocols, reader.u8()), reader.u16()];
  const [clock, receivedMs, from] = [entry(clocks, reader.u8()), timeField(reader), addressField(reader)];
  const known = hopLimit === NO_HOP_LIMIT ? null : hopLimit;
  return { op, ref, protocol, hopLimit: known, receivedMs, clock, from, data: packetField(reader) };
}

function labelField(reader: FieldReader): FlowLabel | null {
  const [label, source] = [reader.u32(), reader.text()];
  if (label === 0 && source === '') return null;
  if (label === 0 || label > 0xfffff || !isIPv6(source)) throw new RangeError('No flow label and its source.');
  return { label, source };
}

function ended<T>(reader: FieldReader, message: T): T {
  reader.end();
  return message;
}

function entry<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new RangeError(`Number ${index} of ${list.length}.`);
  return found;
}

function familyField(reader: FieldReader): Family {
  const family = reader.u8();
  if (family !== 4 && family !== 6) throw new RangeError(`Address family ${family}.`);
  return family;
}

function addressField(reader: FieldReader): string {
  const address = reader.text();
  if (!isIPv4(address) && !isIPv6(address)) throw new RangeError('Not an IP address.');
  return address;
}

function timeField(reader: FieldReader): number {
  const time = reader.f64();
  if (!Number.isFinite(time) || time < 0) throw new RangeError('Not a time.');
  return time;
}

function packetField(reader: FieldReader): Uint8Array {
  const packet = reader.rest();
  if (packet.length > MAX_PACKET_BYTES) throw new RangeError(`A packet of ${packet.length} bytes.`);
  return packet;
}
