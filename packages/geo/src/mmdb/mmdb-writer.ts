import { encodeText, encodeValue, type MmdbValue } from './mmdb-encoding.ts';

export interface MmdbOptions {
  readonly databaseType: string;
  /** Text of the metadata's `description.en`. */
  readonly description: string;
  /** A tree for IPv6 contains IPv4 as well, at `::/96`. */
  readonly ipVersion: 4 | 6;
  /** Seconds since the epoch. */
  readonly buildEpoch: number;
  /** Bits per record of a node; by default as few as possible. */
  readonly recordBits?: RecordBits;
}

type RecordBits = 24 | 28 | 32;

export interface MmdbWriter {
  /** Writes a record to the data section and returns its offset. */
  readonly addRecord: (record: { readonly [key: string]: MmdbValue }) => number;
  /**
   * Assigns a record to a network. A later network replaces the part of earlier ones that it covers.
   *
   * @param bytes 4 or 16, network order; bits after `length` do not count
   */
  readonly addNetwork: (bytes: Uint8Array, length: number, record: number) => void;
  readonly toBuffer: () => Buffer;
}

/** Writes an MMDB file (MaxMind DB file format 2.0). Equal calls yield equal bytes. */
export function createMmdbWriter(options: MmdbOptions): MmdbWriter {
  const data = createDataSection();
  const tree = createTree();

  return {
    addRecord: data.add,
    addNetwork(bytes, length, record) {
      const isV4 = bytes.length === 4;
      if (!isV4 && options.ipVersion === 4) throw new Error('an IPv6 network does not fit into a tree of IPv4');
      if (!isV4 || options.ipVersion === 4) return tree.insert(bytes, length, record);
      const padded = new Uint8Array(16);
      padded.set(bytes, 12);
      return tree.insert(padded, 96 + length, record);
    },
    toBuffer() {
      const recordBits = options.recordBits ?? tree.recordBits(data.size());
      const metadata = {
        binary_format_major_version: 2,
        binary_format_minor_version: 0,
        build_epoch: BigInt(options.buildEpoch),
        database_type: options.databaseType,
        description: { en: options.description },
        ip_version: options.ipVersion,
        languages: ['en'],
        node_count: tree.nodeCount(),
        record_size: recordBits,
      };
      return Buffer.concat([
        tree.toBuffer(recordBits),
        Buffer.alloc(SEPARATOR_BYTES),
        data.toBuffer(),
        METADATA_MARKER,
        ...encodeValue(metadata, () => null),
      ]);
    },
  };
}

const SEPARATOR_BYTES = 16;
const METADATA_MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');

interface DataSection {
  readonly add: (record: { readonly [key: string]: MmdbValue }) => number;
  readonly size: () => number;
  readonly toBuffer: () => Buffer;
}

function createDataSection(): DataSection {
  const chunks: Buffer[] = [];
  const texts = new Map<string, number>();
  let size = 0;

  function append(chunk: Buffer): number {
    const offset = size;
    chunks.push(chunk);
    size += chunk.length;
    return offset;
  }

  /** Each text is stored once, except texts that are no longer than a pointer. */
  function pointerTo(text: string): number | null {
    if (text.length < 5) return null;
    let offset = texts.get(text);
    if (offset === undefined) {
      offset = append(encodeText(text));
      texts.set(text, offset);
    }
    return offset;
  }

  return {
    add: (record) => append(Buffer.concat(encodeValue(record, pointerTo))),
    size: () => size,
    toBuffer: () => Buffer.concat(chunks),
  };
}

interface Tree {
  readonly insert: (bytes: Uint8Array, length: number, record: number) => void;
  readonly nodeCount: () => number;
  readonly recordBits: (dataBytes: number) => RecordBits;
  readonly toBuffer: (recordBits: RecordBits) => Buffer;
}

/**
 * Marks a side of a node that holds a record of the data section instead of a node. A side of 0 is empty: no side
 * points to the root.
 */
const IS_RECORD = 0x8000_0000;

function createTree(): Tree {
  let sides = new Uint32Array(1 << 12);
  let count = 1;

  function newNode(inherited: number): number {
    if ((count + 1) * 2 > sides.length) {
      const grown = new Uint32Array(sides.length * 2);
      grown.set(sides);
      sides = grown;
    }
    sides.fill(inherited, count * 2, count * 2 + 2);
    count += 1;
    return count - 1;
  }

  function insert(bytes: Uint8Array, length: number, record: number): void {
    if (length < 1 || length > bytes.length * 8) throw new Error(`no network has a prefix of ${length} bits`);
    let node = 0;
    for (let depth = 0; ; depth += 1) {
      const side = node * 2 + ((bytes[depth >> 3]! >> (7 - (depth & 7))) & 1);
      if (depth === length - 1) {
        sides[side] = IS_RECORD + record;
        return;
      }
      const below = sides[side]!;
      // A record above is inherited by both sides of the new node. `newNode` may replace the array.
      const next = below === 0 || below >= IS_RECORD ? newNode(below) : below;
      sides[side] = next;
      node = next;
    }
  }

  function valueOf(side: number): number {
    if (side === 0) return count;
    return side >= IS_RECORD ? count + SEPARATOR_BYTES + side - IS_RECORD : side;
  }

  return {
    insert,
    nodeCount: () => count,
    recordBits(dataBytes) {
      const largest = count + SEPARATOR_BYTES + dataBytes;
      if (largest >= 2 ** 32) throw new Error('too much data for an MMDB file');
      if (largest < 2 ** 24) return 24;
      return largest < 2 ** 28 ? 28 : 32;
    },
    toBuffer(recordBits) {
      const nodeBytes = recordBits / 4;
      const buffer = Buffer.alloc(count * nodeBytes);
      for (let node = 0; node < count; node += 1) {
        writeNode(buffer, node * nodeBytes, recordBits, valueOf(sides[node * 2]!), valueOf(sides[node * 2 + 1]!));
      }
      return buffer;
    },
  };
}

function writeNode(buffer: Buffer, offset: number, recordBits: RecordBits, left: number, right: number): void {
  if (recordBits === 32) {
    buffer.writeUInt32BE(left, offset);
    buffer.writeUInt32BE(right, offset + 4);
    return;
  }
  const rightOffset = recordBits === 24 ? offset + 3 : offset + 4;
  buffer.writeUIntBE(left & 0xff_ffff, offset, 3);
  buffer.writeUIntBE(right & 0xff_ffff, rightOffset, 3);
  // The four high bits of both share the byte between them.
  if (recordBits === 28) buffer[offset + 3] = ((left >>> 24) << 4) | (right >>> 24);
}
