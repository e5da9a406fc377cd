/** A value of an MMDB file. Whole numbers from 0 to 2^32 − 1 become `uint32`, others `double`, a bigint `uint64`. */
export type MmdbValue =
  | string
  | number
  | bigint
  | boolean
  | readonly MmdbValue[]
  | { readonly [key: string]: MmdbValue };

/**
 * Encodes a value (MaxMind DB file format 2.0, "Output Data Section").
 *
 * @param pointerTo offset of an equal text in the data section, to write a pointer to it; `null` to write the text
 */
export function encodeValue(value: MmdbValue, pointerTo: (text: string) => number | null): readonly Buffer[] {
  if (typeof value === 'string') {
    const offset = pointerTo(value);
    return [offset === null ? encodeText(value) : encodePointer(offset)];
  }
  if (typeof value === 'boolean') return [control(TYPE.boolean, value ? 1 : 0)];
  if (typeof value === 'bigint') return [unsigned(TYPE.uint64, value)];
  if (typeof value === 'number') {
    const isUint32 = Number.isInteger(value) && value >= 0 && value <= 0xffff_ffff;
    return [isUint32 ? unsigned(TYPE.uint32, BigInt(value)) : double(value)];
  }
  if (isList(value)) {
    return [control(TYPE.array, value.length), ...value.flatMap((item) => encodeValue(item, pointerTo))];
  }
  const entries = Object.entries(value);
  const body = entries.flatMap(([key, item]) => [...encodeValue(key, pointerTo), ...encodeValue(item, pointerTo)]);
  return [control(TYPE.map, entries.length), ...body];
}

/** Encodes the text itself, as a target of pointers. */
export function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([control(TYPE.text, bytes.length), bytes]);
}

const TYPE = { text: 2, double: 3, uint32: 6, map: 7, uint64: 9, array: 11, boolean: 14 };

/**
 * Type in the first three bits, types above 7 in a separate byte; size in the other five and up to three bytes more.
 */
function control(type: number, size: number): Buffer {
  const extended = type > 7 ? [type - 7] : [];
  const first = type > 7 ? 0 : type << 5;
  if (size < 29) return Buffer.from([first | size, ...extended]);
  if (size < 285) return Buffer.from([first | 29, ...extended, size - 29]);
  if (size < 65_821) return Buffer.from([first | 30, ...extended, ...bigEndian(size - 285, 2)]);
  return Buffer.from([first | 31, ...extended, ...bigEndian(size - 65_821, 3)]);
}

/** Always with an offset of four bytes: a little larger, but the size of a pointer does not depend on its offset. */
function encodePointer(offset: number): Buffer {
  return Buffer.from([0b001_11_000, ...bigEndian(offset, 4)]);
}

function unsigned(type: number, value: bigint): Buffer {
  const digits = value === 0n ? '' : value.toString(16);
  const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex');
  return Buffer.concat([control(type, bytes.length), bytes]);
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return Buffer.concat([control(TYPE.double, 8), bytes]);
}

function bigEndian(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}

function isList(value: MmdbValue): value is readonly MmdbValue[] {
  return Array.isArray(value);
}
