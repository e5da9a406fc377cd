import type { Edns } from './edns.ts';
import { encodeName } from './name.ts';
import { createReader } from './reader.ts';
import { newSectionState, readQuestions, readSection, type Presentation } from './sections.ts';

/** RFC 1035 section 4.1.1, RFC 4035 section 3. */
const flagBits = { qr: 0x80_00, aa: 0x04_00, tc: 0x02_00, rd: 0x01_00, ra: 0x00_80, ad: 0x00_20, cd: 0x00_10 } as const;

export type DnsFlag = keyof typeof flagBits;

/** In the order of the header, which is `dig`'s. */
export const dnsFlags = Object.keys(flagBits) as [DnsFlag, ...DnsFlag[]];

const CLASS_IN = 1;
const TYPE_OPT = 41;

/** UDP payload that fits every path without fragments (DNS Flag Day 2020; RFC 9715 section 3). */
export const EDNS_UDP_BYTES = 1232;

export interface Query {
  readonly id: number;
  /** Presentation form. */
  readonly name: string;
  readonly recordType: { readonly code: number; readonly name: string };
  readonly recursionDesired: boolean;
  readonly checkingDisabled: boolean;
  /** The AD bit of a query asks for the resolver's verdict (RFC 6840 section 5.7). True without it. */
  readonly authenticData?: boolean;
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
  /** What first broke the format; what stands before it was read, and the records behind it if they could be found. */
  readonly formatError: string | null;
  /** Octets behind the last record. */
  readonly trailingBytes: number;
}

/**
 * One question of class IN.
 *
 * @throws RangeError for a name that cannot be written
 */
export function encodeQuery(query: Query): Uint8Array {
  const flags =
    (query.authenticData === false ? 0 : flagBits.ad) |
    (query.recursionDesired ? flagBits.rd : 0) |
    (query.checkingDisabled ? flagBits.cd : 0);
  const header = [query.id, flags, 1, 0, 0, query.edns === null ? 0 : 1].flatMap(u16);
  const question = [...encodeName(query.name), ...u16(query.recordType.code), ...u16(CLASS_IN)];
  return Uint8Array.from([...header, ...question, ...(query.edns === null ? [] : optRecord(query.edns))]);
}

/**
 * Reads as much of a message as can be read. A record whose data breaks the format of its type is there in the form of
 * RFC 3597; a record whose bounds cannot be told ends the reading.
 *
 * @param presentation which types have a name, and a format of their data
 * @throws MessageFormatError where even the header is cut off
 */
export function readMessage(bytes: Uint8Array, presentation: Presentation): Message {
  const reader = createReader(bytes);
  const id = reader.u16();
  const bits = reader.u16();
  const counts = [reader.u16(), reader.u16(), reader.u16(), reader.u16()] as const;
  const state = newSectionState(presentation);
  const questions = readQuestions(reader, counts[0], state);
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
    formatError: state.formatError,
    trailingBytes: state.isCutOff ? 0 : reader.remaining(),
  };
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

function u16(value: number): number[] {
  return [value >> 8, value & 0xff];
}
