import { readSync } from 'node:fs';

import { LRUCache } from 'lru-cache';
import mmdbDecoder from 'mmdb-lib/lib/decoder.js';

/** Decodes the value at an offset behind the search tree (MaxMind DB file format 2.0, "Data Section"). */
export type DecodeAt = (offset: number) => unknown;

/** Zero bytes between the search tree and the data section, which pointers do not count. */
export const SEPARATOR_BYTES = 16;

/** Limit of cached texts that pointers refer to: the keys of all records, and frequent names. */
const TEXTS_KEPT = 2_048;

/** Part of a file, as offsets of bytes. */
export interface Section {
  readonly from: number;
  readonly to: number;
}

/** @param rest all that follows the tree */
export function decodeInMemory(rest: Buffer): DecodeAt {
  const texts = createTextCache();
  const cache = {
    get: (offset: string | number) => texts.get(Number(offset)),
    set: (offset: string | number, cursor: unknown) => keepText(texts, Number(offset), cursor),
  };
  const decoder = new mmdbDecoder.default(rest, SEPARATOR_BYTES, cache);
  return (offset) => decoder.decode(offset).value;
}

/** Bytes that are read at once; more if a value is longer. */
const WINDOW_BYTES = 512;
const GROWTH = 8;

/** The value is invalid, however many bytes are read. */
class DamagedValue extends Error {}

/**
 * Reads values from a file on demand: each in one read unless it is long, and those that its pointers refer to in
 * further ones.
 *
 * @param fd stays open
 * @returns a function that throws `UnreadableFile` if the file became shorter, the error of the system, or
 *   `DamagedValue`
 */
export function decodeFromFile(fd: number, section: Section): DecodeAt {
  const texts = createTextCache();
  const decodeAt = (offset: number): object => {
    for (let bytes = WINDOW_BYTES; ; bytes *= GROWTH) {
      const window = readWindow(fd, section, offset, bytes);
      const cursor = decodeIn(window, cache);
      // The decoder silently cuts off a text that does not fit in the window.
      if (cursor !== undefined && cursor.offset <= window.length) return cursor;
      if (window.length < bytes) throw new DamagedValue();
    }
  };
  // The decoder asks for each pointer here before it looks into its own bytes.
  const cache = {
    get: (offset: string | number): unknown => {
      const known = texts.get(Number(offset));
      if (known !== undefined) return known;
      const cursor = decodeAt(Number(offset));
      keepText(texts, Number(offset), cursor);
      return cursor;
    },
    set: () => undefined,
  };
  return (offset) => Object(decodeAt(offset))['value'] as unknown;
}

/** @returns the value and the offset behind it; undefined if the window is too small or its bytes are no value */
function decodeIn(
  window: Buffer,
  cache: ConstructorParameters<typeof mmdbDecoder.default>[2],
): { readonly value: unknown; readonly offset: number } | undefined {
  try {
    return new mmdbDecoder.default(window, SEPARATOR_BYTES, cache).decode(0);
  } catch (error) {
    if (error instanceof DamagedValue || error instanceof UnreadableFile) throw error;
    return undefined;
  }
}

export class UnreadableFile extends Error {}

function readWindow(fd: number, { from, to }: Section, offset: number, bytes: number): Buffer {
  const length = Math.min(bytes, to - from - offset);
  if (!(length > 0)) throw new DamagedValue();
  const window = Buffer.allocUnsafe(length);
  // Synchronous: the bytes are usually in the kernel's cache, so reading them takes less time than an asynchronous
  // read.
  const bytesRead = readSync(fd, window, 0, length, from + offset);
  if (bytesRead !== length) throw new UnreadableFile('the file became shorter');
  return window;
}

function createTextCache(): LRUCache<number, object> {
  return new LRUCache<number, object>({ max: TEXTS_KEPT });
}

function keepText(texts: LRUCache<number, object>, offset: number, cursor: unknown): void {
  if (typeof Object(cursor)['value'] === 'string') texts.set(offset, Object(cursor) as object);
}
