import type { Edns } from './edns.ts';
import { encodeName } from './name.ts';
import { createReader } from './reader.ts';
import type { DnsRecord, Question } from './record.ts';
import { newSectionState, readQuestions, readSection, type Presentation } from './sections.ts';

/** Bits of the flags in the header of a message (RFC 1035 section 4.1.1, RFC 4035 section 3). */
const flagBits = { qr: 0x80_00, aa: 0x04_00, tc: 0x02_00, rd: 0x01_00, ra: 0x00_80, ad: 0x00_20, cd: 0x00_10 } as const;

export type DnsFlag = keyof typeof flagBits;

/** Flags of a message in the order of its header and of the output of `dig`. */
export const dnsFlags = Object.keys(flagBits) as [DnsFlag, ...DnsFlag[]];

const CLASS_IN = 1;
const TYPE_OPT = 41;

/** UDP payload that fits into the least MTU of IPv6, 1,280 bytes, without fragmentation (DNS Flag Day 2020). */
export const EDNS_UDP_BYTES = 1232;

export interface Query {
  readonly id: number;
  /** Presentation form. */
  readonly name: string;
  readonly recordType: { readonly code: number; readonly name: string };
  readonly recursionDesired: boolean;
  readonly checkingDisabled: boolean;
  /** The AD bit of a query requests the resolver's validation status (RFC 6840 section 5.7). Default: true. */
  readonly authenticData?: boolean;
  /** `null`: no OPT record. */
  readonly edns: { readonly dnssecOk: boolean; readonly nsid: boolean } | null;
}

export interface Message {
  readonly id: number;
  readonly opcode: number;
  readonly flags: readonly DnsFlag[];
  /** Includes the upper bits from EDNS (RFC 6891 section 6.1.3). */
  readonly rcode: number;
  readonly questions: readonly Question[];
  readonly answers: readonly DnsRecord[];
  readonly authority: readonly DnsRecord[];
  /** Excludes the OPT record, which is `edns`. */
  readonly additional: readonly DnsRecord[];
  readonly edns: Edns | null;
  /** Number of records not read because of the record limit. */
  readonly omitted: number;
  /** First format violation. Records before it are read, and those after it if their bounds are known. */
  readonly formatError: string | null;
  /** Octets after the last record; 0 if a record without determinable bounds ended decoding. */
  readonly trailingBytes: number;
}

/**
 * Encodes a query with one question of class IN.
 *
 * @throws RangeError for a name that cannot be encoded
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
 * Decodes as much of a message as possible. A record of another class, or whose data violates its type's format,
 * appears in the form of RFC 3597, an OPT record not at all; an item without determinable bounds ends decoding.
 *
 * @param presentation type mnemonics and data formats
 * @throws MessageFormatError if the header itself is truncated
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
  // RFC 5001 section 2.1: the NSID option of a query is empty.
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
