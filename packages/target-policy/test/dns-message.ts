import { parseAddress } from '../src/addresses/address.ts';

export type RecordType = 'A' | 'AAAA' | 'PTR';

/** Answer of the server to one question; `undefined` from a zone means NXDOMAIN. */
export interface Answer {
  readonly rcode?: number;
  /** Addresses of the queried type, or, for PTR, names with labels joined by dots. */
  readonly records?: readonly string[];
  /** True to send no response. */
  readonly silent?: boolean;
  /** Sends a message that ends too early. */
  readonly garbage?: boolean;
  readonly delayMs?: number;
  /** Records of any type, owner and length, in the answer section, before `records`. */
  readonly raw?: readonly RawRecord[];
  /** An EDNS option in the OPT record; by default there is none. */
  readonly option?: { readonly code: number; readonly data: Buffer };
  /** Over UDP the answer is cut off. */
  readonly truncated?: boolean;
  /** Connections over TCP are closed without an answer. */
  readonly closesTcp?: boolean;
  /** Nothing is sent over TCP. */
  readonly silentTcp?: boolean;
  /** The SOA of this zone in the authority section. */
  readonly soa?: string;
  /** Header flags that are cleared, such as RA. */
  readonly without?: number;
}

export interface RawRecord {
  readonly owner: string;
  readonly type: number;
  readonly data: Buffer;
}

export const RA = 0x80;

export const TYPES: Readonly<Record<number, RecordType>> = { 1: 'A', 12: 'PTR', 28: 'AAAA' };

export function readQuestion(message: Buffer): { readonly name: string; readonly code: number; readonly end: number } {
  const labels: string[] = [];
  let offset = 12;
  while (message[offset] !== 0) {
    const length = message[offset]!;
    labels.push(message.toString('latin1', offset + 1, offset + 1 + length));
    offset += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), code: message.readUInt16BE(offset + 1), end: offset + 5 };
}

/** The query repeated with QR, RD and RA set; each of `records` points to the queried name. */
export function encode(question: Buffer, code: number, answer: Answer): Buffer {
  const { rcode = 0, records = [], raw = [], option, truncated = false, soa, without = 0 } = answer;
  const head = Buffer.from(question);
  head.writeUInt16BE((0x8180 | rcode | (truncated ? 0x0200 : 0)) & ~without, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(raw.length + records.length, 6);
  head.writeUInt16BE(soa === undefined ? 0 : 1, 8);
  head.writeUInt16BE(option === undefined ? 0 : 1, 10);
  const toQuestion = Buffer.of(0xc0, 0x0c);
  return Buffer.concat([
    head,
    ...raw.map(({ owner, type, data }) => encodeRecord(encodeDnsName(owner), type, data)),
    ...records.map((record) =>
      encodeRecord(toQuestion, code, TYPES[code] === 'PTR' ? encodeDnsName(record) : encodeAddress(record)),
    ),
    ...(soa === undefined ? [] : [encodeRecord(encodeDnsName(soa), 6, Buffer.alloc(22))]),
    ...(option === undefined ? [] : [encodeRecord(Buffer.of(0), 41, encodeOption(option.code, option.data))]),
  ]);
}

function encodeRecord(owner: Buffer, type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, head, data]);
}

function encodeOption(code: number, data: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16BE(code, 0);
  head.writeUInt16BE(data.length, 2);
  return Buffer.concat([head, data]);
}

function encodeAddress(text: string): Buffer {
  const { family, value } = parseAddress(text)!;
  return Buffer.from(value.toString(16).padStart(family === 4 ? 8 : 32, '0'), 'hex');
}

export function encodeDnsName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(label, 'latin1'));
  return Buffer.concat([...labels.flatMap((label) => [Buffer.from([label.length]), label]), Buffer.from([0])]);
}

/** The query repeated, with a count of nine records that are missing. */
export function garbage(question: Buffer): Buffer {
  const reply = Buffer.from(question);
  reply.writeUInt16BE(0x8180, 2);
  reply.writeUInt16BE(9, 6);
  reply.writeUInt32BE(0, 8);
  return reply;
}
