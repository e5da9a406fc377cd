import { MessageFormatError } from './format-error.ts';
import { decodeName } from './name.ts';

/** A bounded cursor over a message. Reads beyond the bound throw `MessageFormatError`. */
export interface Reader {
  readonly offset: () => number;
  readonly remaining: () => number;
  readonly u8: () => number;
  readonly u16: () => number;
  readonly u32: () => number;
  readonly take: (length: number) => Uint8Array;
  readonly rest: () => Uint8Array;
  /** A character-string of RFC 1035 section 3.3: a length octet and that many octets. */
  readonly characterString: () => Uint8Array;
  /** A domain name in presentation form, fully qualified. */
  readonly name: () => string;
  /** Returns a cursor over the next `length` bytes and skips them. */
  readonly slice: (length: number) => Reader;
  /** Returns a second cursor over the remaining bytes. */
  readonly again: () => Reader;
}

/**
 * @param message the whole message: compression pointers are offsets into it
 * @param start first byte of the cursor
 * @param end bound of the cursor, exclusive
 */
export function createReader(message: Uint8Array, start = 0, end = message.length): Reader {
  let offset = start;
  const advance = (length: number): number => {
    if (offset + length > end) throw new MessageFormatError('a field runs past its bound');
    const at = offset;
    offset += length;
    return at;
  };
  const u8 = (): number => message[advance(1)]!;
  const u16 = (): number => {
    const at = advance(2);
    return message[at]! * 0x1_00 + message[at + 1]!;
  };
  const take = (length: number): Uint8Array => {
    const at = advance(length);
    return message.subarray(at, at + length);
  };
  return {
    offset: () => offset,
    remaining: () => end - offset,
    u8,
    u16,
    u32: () => u16() * 0x1_00_00 + u16(),
    take,
    rest: () => take(end - offset),
    characterString: () => take(u8()),
    name: () => {
      const name = decodeName(message, offset, end);
      offset = name.next;
      return name.text;
    },
    slice: (length) => {
      const at = advance(length);
      return createReader(message, at, at + length);
    },
    again: () => createReader(message, offset, end),
  };
}
