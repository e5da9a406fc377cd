import { decodeHuffman } from './hpack-huffman.ts';

/** The static table (RFC 7541 appendix A). */
const STATIC = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  ...['200', '204', '206', '304', '400', '404', '500'].map((status) => [':status', status] as const),
  ['accept-charset', ''],
  ['accept-encoding', 'gzip, deflate'],
  ...(
    'accept-language accept-ranges accept access-control-allow-origin age allow authorization cache-control ' +
    'content-disposition content-encoding content-language content-length content-location content-range content-type ' +
    'cookie date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since ' +
    'last-modified link location max-forwards proxy-authenticate proxy-authorization range referer refresh retry-after ' +
    'server set-cookie strict-transport-security transfer-encoding user-agent vary via www-authenticate'
  )
    .split(' ')
    .map((name) => [name, ''] as const),
] as const satisfies readonly (readonly [string, string])[];

type Field = readonly [name: string, value: string];

/** Bytes that an entry counts for beyond its name and value (RFC 7541 section 4.1). */
const ENTRY_BYTES = 32;
/** Default of SETTINGS_HEADER_TABLE_SIZE, which the client does not change, bytes. */
const MAX_TABLE_BYTES = 4096;

export type DecodedBlock =
  | { readonly fields: readonly Field[]; readonly fault: null }
  /** `malformed`: no HPACK; `too large`: over the bound. The connection cannot go on after either. */
  | { readonly fault: 'malformed' | 'too large' };

/** Decodes the header blocks of one connection in their order (RFC 7541). */
export function hpackDecoder(maxListBytes: number): (block: Buffer) => DecodedBlock {
  const table = dynamicTable();
  return (block) => {
    const fields: Field[] = [];
    let listBytes = 0;
    const reader = blockReader(block);
    const nameAt = (index: number): string => table.at(index)[0];
    try {
      while (!reader.isOver()) {
        const field = readField(reader, table, nameAt);
        if (field === null) continue;
        listBytes += field[0].length + field[1].length + ENTRY_BYTES;
        if (listBytes > maxListBytes) return { fault: 'too large' };
        fields.push(field);
      }
      return { fields, fault: null };
    } catch (error) {
      if (error instanceof Malformed) return { fault: 'malformed' };
      throw error;
    }
  };
}

/** Encodes a header block without compression: every field a literal that enters no table (RFC 7541 section 6.2.2). */
export function encodeHpack(fields: readonly Field[]): Buffer {
  const text = (value: string): Buffer => Buffer.concat([integer(0x7f, value.length), Buffer.from(value, 'latin1')]);
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

class Malformed extends Error {}

function readField(reader: BlockReader, table: DynamicTable, nameAt: (index: number) => string): Field | null {
  const first = reader.peek();
  if ((first & 0x80) !== 0) return table.at(reader.integer(0x7f));
  if ((first & 0xe0) === 0x20) {
    table.resize(reader.integer(0x1f));
    return null;
  }
  const isIndexed = (first & 0x40) !== 0;
  const index = reader.integer(isIndexed ? 0x3f : 0x0f);
  const field: Field = [index === 0 ? reader.string() : nameAt(index), reader.string()];
  if (isIndexed) table.add(field);
  return field;
}

interface DynamicTable {
  readonly at: (index: number) => Field;
  readonly add: (field: Field) => void;
  readonly resize: (bytes: number) => void;
}

function dynamicTable(): DynamicTable {
  let entries: Field[] = [];
  let [bytes, maxBytes] = [0, MAX_TABLE_BYTES];
  const sizeOf = ([name, value]: Field): number => name.length + value.length + ENTRY_BYTES;
  const evict = (): void => {
    while (bytes > maxBytes) bytes -= sizeOf(entries.pop()!);
  };
  return {
    at: (index) => {
      const field = index <= STATIC.length ? STATIC[index - 1] : entries[index - STATIC.length - 1];
      if (field === undefined) throw new Malformed();
      return field;
    },
    add: (field) => {
      entries = [field, ...entries];
      bytes += sizeOf(field);
      evict();
    },
    resize: (wanted) => {
      if (wanted > MAX_TABLE_BYTES) throw new Malformed();
      maxBytes = wanted;
      evict();
    },
  };
}

interface BlockReader {
  readonly isOver: () => boolean;
  readonly peek: () => number;
  /** An integer whose prefix is the bits of the mask in the first byte (RFC 7541 section 5.1). */
  readonly integer: (mask: number) => number;
  readonly string: () => string;
}

function blockReader(block: Buffer): BlockReader {
  let at = 0;
  const byte = (): number => {
    const value = block[at];
    if (value === undefined) throw new Malformed();
    at += 1;
    return value;
  };
  const readInteger = (mask: number): number => {
    let value = byte() & mask;
    if (value < mask) return value;
    for (let shift = 1, next = 0x80; (next & 0x80) !== 0; shift *= 0x80) {
      if (shift > MAX_INTEGER_SHIFT) throw new Malformed();
      next = byte();
      value += (next & 0x7f) * shift;
    }
    return value;
  };
  return {
    isOver: () => at >= block.length,
    peek: () => block[at]!,
    integer: readInteger,
    string: () => {
      const isHuffman = (block[at]! & 0x80) !== 0;
      const length = readInteger(0x7f);
      if (at + length > block.length) throw new Malformed();
      const bytes = block.subarray(at, at + length);
      at += length;
      const text = isHuffman ? decodeHuffman(bytes) : bytes.toString('latin1');
      if (text === undefined) throw new Malformed();
      return text;
    },
  };
}

/** Largest factor of a continuation byte, far beyond any length that a block can have. */
const MAX_INTEGER_SHIFT = 0x80 ** 4;

function integer(mask: number, value: number): Buffer {
  if (value < mask) return Buffer.from([value]);
  const bytes = [mask];
  let rest = value - mask;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}
