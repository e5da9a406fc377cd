import { MAX_FRAME_BYTES } from './frames.ts';

/** Buffer of the message being written; allocating the maximum size per message would create garbage. */
const scratch = Buffer.alloc(MAX_FRAME_BYTES);

/** Writes the fields of a message one after another, big-endian. */
export function fieldWriter(bytes: number): FieldWriter {
  const buffer = scratch.subarray(0, bytes);
  let offset = 0;
  const writer: FieldWriter = {
    u8: (value) => ((offset = buffer.writeUInt8(value, offset)), writer),
    u16: (value) => ((offset = buffer.writeUInt16BE(value, offset)), writer),
    u32: (value) => ((offset = buffer.writeUInt32BE(value, offset)), writer),
    f64: (value) => ((offset = buffer.writeDoubleBE(value, offset)), writer),
    text: (value) => {
      const encoded = Buffer.from(value).subarray(0, MAX_TEXT_BYTES);
      writer.u8(encoded.length);
      offset += encoded.copy(buffer, offset);
      return writer;
    },
    rest: (value) => {
      if (value.length > bytes - offset) throw new RangeError('A message that is too long.');
      buffer.set(value, offset);
      offset += value.length;
      return writer;
    },
    done: () => Buffer.from(buffer.subarray(0, offset)),
  };
  return writer;
}

export interface FieldWriter {
  readonly u8: (value: number) => FieldWriter;
  readonly u16: (value: number) => FieldWriter;
  readonly u32: (value: number) => FieldWriter;
  readonly f64: (value: number) => FieldWriter;
  /** One byte of length, then UTF-8, cut off at 255 bytes. */
  readonly text: (value: string) => FieldWriter;
  readonly rest: (value: Uint8Array) => FieldWriter;
  readonly done: () => Buffer;
}

export const MAX_TEXT_BYTES = 255;

/** Reads fields in the order they were written; each read beyond the end throws a RangeError. */
export interface FieldReader {
  readonly u8: () => number;
  readonly u16: () => number;
  readonly u32: () => number;
  readonly f64: () => number;
  readonly text: () => string;
  /** A copy of the remaining bytes. */
  readonly rest: () => Uint8Array;
  /** @throws RangeError if bytes are left */
  readonly end: () => void;
}

export function fieldReader(buffer: Buffer): FieldReader {
  let offset = 0;
  const take = (bytes: number): number => {
    const start = offset;
    offset += bytes;
    return start;
  };
  const reader: FieldReader = {
    u8: () => buffer.readUInt8(take(1)),
    u16: () => buffer.readUInt16BE(take(2)),
    u32: () => buffer.readUInt32BE(take(4)),
    f64: () => buffer.readDoubleBE(take(8)),
    text: () => {
      const bytes = reader.u8();
      if (offset + bytes > buffer.length) throw new RangeError('A text that is cut off.');
      const start = take(bytes);
      return buffer.toString('utf8', start, start + bytes);
    },
    rest: () => Uint8Array.from(buffer.subarray(take(buffer.length - offset))),
    end: () => {
      if (offset !== buffer.length) throw new RangeError('A message with bytes left over.');
    },
  };
  return reader;
}
