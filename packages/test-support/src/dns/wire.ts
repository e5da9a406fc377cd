/** DNS messages made by hand for tests, independent of the codec under test. */

export interface WireRecord {
  readonly name: string;
  readonly type: number;
  readonly ttl?: number;
  readonly classCode?: number;
  readonly data: Uint8Array;
}

export interface WireQuery {
  readonly id: number;
  readonly flags: number;
  /** Lower case, with the final dot. */
  readonly name: string;
  readonly type: number;
  /** The question section as it came. */
  readonly question: Uint8Array;
  /** Octets after the question: the OPT record, if there is one. */
  readonly rest: Uint8Array;
}

export interface WireResponse {
  readonly id?: number;
  readonly question?: Uint8Array | null;
  /** Header flags without the QR bit and the rcode. */
  readonly flags?: number;
  readonly rcode?: number;
  readonly answers?: readonly WireRecord[];
  readonly authority?: readonly WireRecord[];
  readonly additional?: readonly WireRecord[];
}

export const FLAGS = { aa: 0x0400, tc: 0x0200, rd: 0x0100, ra: 0x0080, ad: 0x0020, cd: 0x0010 } as const;

export function u16(value: number): number[] {
  return [(value >> 8) & 0xff, value & 0xff];
}

export function u32(value: number): number[] {
  return [...u16(Math.floor(value / 0x10000)), ...u16(value % 0x10000)];
}

/** A name of plain labels, uncompressed. */
export function wireName(name: string): number[] {
  const labels = name.split('.').filter((label) => label !== '');
  return [...labels.flatMap((label) => [label.length, ...Buffer.from(label, 'latin1')]), 0];
}

export function wireText(text: string): number[] {
  return [text.length, ...Buffer.from(text, 'latin1')];
}

export function wireRecord({ name, type, ttl = 300, classCode = 1, data }: WireRecord): number[] {
  return [...wireName(name), ...u16(type), ...u16(classCode), ...u32(ttl), ...u16(data.length), ...data];
}

export function readQuery(bytes: Uint8Array): WireQuery {
  const view = Buffer.from(bytes);
  const labels: string[] = [];
  let at = 12;
  for (let length = view[at] ?? 0; length > 0; length = view[at] ?? 0) {
    labels.push(view.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const end = at + 5;
  return {
    id: view.readUInt16BE(0),
    flags: view.readUInt16BE(2),
    name: `${labels.join('.').toLowerCase()}.`,
    type: view.readUInt16BE(at + 1),
    question: view.subarray(12, end),
    rest: view.subarray(end),
  };
}

export function respond(query: WireQuery, response: WireResponse = {}): Buffer {
  const { id = query.id, question = query.question, flags = 0x0180, rcode = 0 } = response;
  const sections = [response.answers ?? [], response.authority ?? [], response.additional ?? []];
  const counts = [question === null ? 0 : 1, ...sections.map((records) => records.length)];
  const header = [...u16(id), ...u16(0x8000 | flags | rcode), ...counts.flatMap(u16)];
  return Buffer.from([...header, ...(question ?? []), ...sections.flat().flatMap(wireRecord)]);
}

/** An OPT record (RFC 6891 section 6.1.2). */
export function optRecord(options: readonly number[] = [], ttl = 0, udpBytes = 1232): WireRecord {
  return { name: '.', type: 41, classCode: udpBytes, ttl, data: Uint8Array.from(options) };
}

export function addressRecord(name: string, address: string): WireRecord {
  return { name, type: 1, data: Uint8Array.from(address.split('.').map(Number)) };
}
