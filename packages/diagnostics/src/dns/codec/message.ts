import { recordTypeName, type RecordType } from '../record-types.ts';
import { decodeEdns, type Edns } from './edns.ts';
import { MessageFormatError } from './format-error.ts';
import { encodeName } from './name.ts';
import { presentData } from './rdata.ts';
import { createReader, type Reader } from './reader.ts';

/** RFC 1035 section 4.1.1, RFC 4035 section 3. */
const flagBits = { qr: 0x80_00, aa: 0x04_00, tc: 0x02_00, rd: 0x01_00, ra: 0x00_80, ad: 0x00_20, cd: 0x00_10 } as const;

export type DnsFlag = keyof typeof flagBits;

/** In the order of the header, which is `dig`'s. */
export const dnsFlags = Object.keys(flagBits) as [DnsFlag, ...DnsFlag[]];

const CLASS_IN = 1;
const TYPE_OPT = 41;

/** Records whose data is read; of what comes behind them only the bounds are checked. */
const MAX_READ_RECORDS = 100;

/** UDP payload that fits every path without fragments (DNS Flag Day 2020; RFC 9715 section 3). */
export const EDNS_UDP_BYTES = 1232;

export interface Query {
  readonly id: number;
  /** Presentation form. */
  readonly name: string;
  readonly recordType: RecordType;
  readonly recursionDesired: boolean;
  readonly checkingDisabled: boolean;
  /** `null`: no OPT record at all. */
  readonly edns: { readonly dnssecOk: boolean; readonly nsid: boolean } | null;
}

export interface DnsRecord {
  /** Fully qualified, presentation form. */
  readonly name: string;
  readonly type: string;
  /** Seconds. */
  readonly ttl: number;
  /** Presentation form. */
  readonly data: string;
}

export interface Question {
  readonly name: string;
  readonly typeCode: number;
  readonly classCode: number;
}

export interface Message {
  readonly id: number;
  readonly opcode: number;
  readonly flags: readonly DnsFlag[];
  /** With the upper bits that EDNS adds (RFC 6891 section 6.1.3). */
  readonly rcode: number;
  readonly questions: readonly Question[];
  readonly answers: readonly DnsRecord[];
  readonly authority: readonly DnsRecord[];
  /** Without the OPT record, which is `edns`. */
  readonly additional: readonly DnsRecord[];
  readonly edns: Edns | null;
  /** Records that were not read because there are too many. */
  readonly omitted: number;
}

/**
 * One question of class IN. The AD bit asks for the resolver's verdict (RFC 6840 section 5.7).
 *
 * @throws RangeError for a name that cannot be written
 */
export function encodeQuery(query: Query): Uint8Array {
  const flags = flagBits.ad | (query.recursionDesired ? flagBits.rd : 0) | (query.checkingDisabled ? flagBits.cd : 0);
  const header = [query.id, flags, 1, 0, 0, query.edns === null ? 0 : 1].flatMap(u16);
  const question = [...encodeName(query.name), ...u16(query.recordType.code), ...u16(CLASS_IN)];
  return Uint8Array.from([...header, ...question, ...(query.edns === null ? [] : optRecord(query.edns))]);
}

/**
 * Reads a whole message, every section of it.
 *
 * @throws MessageFormatError and nothing else, whatever the bytes are
 */
export function decodeMessage(bytes: Uint8Array): Message {
  const reader = createReader(bytes);
  const id = reader.u16();
  const bits = reader.u16();
  const counts = [reader.u16(), reader.u16(), reader.u16(), reader.u16()] as const;
  const questions = times(counts[0], () => ({ name: reader.name(), typeCode: reader.u16(), classCode: reader.u16() }));
  const state: ReadState = { read: 0, omitted: 0, edns: null };
  const answers = readSection(reader, counts[1], state);
  const authority = readSection(reader, counts[2], state);
  const additional = readSection(reader, counts[3], state);
  return {
    id,
    opcode: (bits >> 11) & 0x0f,
    flags: dnsFlags.filter((flag) => (bits & flagBits[flag]) !== 0),
    rcode: (bits & 0x0f) + (state.edns?.upperRcode ?? 0) * 0x10,
    questions,
    answers,
    authority,
    additional,
    edns: state.edns,
    omitted: state.omitted,
  };
}

interface ReadState {
  read: number;
  omitted: number;
  edns: Edns | null;
}

function readSection(reader: Reader, count: number, state: ReadState): DnsRecord[] {
  const records: DnsRecord[] = [];
  for (let at = 0; at < count; at++) {
    const name = reader.name();
    const typeCode = reader.u16();
    const classCode = reader.u16();
    const ttl = reader.u32();
    const data = reader.slice(reader.u16());
    if (typeCode === TYPE_OPT) {
      // RFC 6891 section 6.1.1: one at most, and its owner is the root.
      if (state.edns !== null || name !== '.') throw new MessageFormatError('an OPT record is out of place');
      state.edns = decodeEdns(classCode, ttl, data);
    } else if (state.read >= MAX_READ_RECORDS) {
      state.omitted++;
    } else {
      state.read++;
      records.push({ name, type: recordTypeName(typeCode), ttl, data: presentData(typeCode, classCode, data) });
    }
  }
  return records;
}

function optRecord(edns: { readonly dnssecOk: boolean; readonly nsid: boolean }): number[] {
  // RFC 5001 section 2.1: the question's NSID option is empty.
  const options = edns.nsid ? [...u16(3), ...u16(0)] : [];
  return [
    0,
    ...u16(TYPE_OPT),
    ...u16(EDNS_UDP_BYTES),
    0,
    0,
    edns.dnssecOk ? 0x80 : 0,
    0,
    ...u16(options.length),
    ...options,
  ];
}

function times<T>(count: number, next: () => T): T[] {
  const items: T[] = [];
  while (items.length < count) items.push(next());
  return items;
}

function u16(value: number): number[] {
  return [value >> 8, value & 0xff];
}
