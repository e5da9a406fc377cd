/**
 * Bits of the Huffman code of each byte, and of EOS at the end, one digit of base 36 each (RFC 7541 appendix B). The
 * code is canonical: codes of one length follow one another in the order of the bytes.
 */
const LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad677777777777777777777' +
  '77878djde6f56565666577666567655677777fbedskmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmo' +
  'lmnnllmlnmnnkmmmnmmnqqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrqu';

const EOS = 256;
const MAX_BITS = 30;

interface Length {
  /** The first code of this length. */
  readonly first: number;
  /** Number of codes of this length. */
  readonly count: number;
  /** Index of the first byte with this code length, of all bytes sorted by length. */
  readonly offset: number;
}

const lengthOf = Array.from(LENGTHS, (digit) => Number.parseInt(digit, 36));
const byLength = [...lengthOf.keys()].toSorted((a, b) => lengthOf[a]! - lengthOf[b]! || a - b);
const lengths = codeLengths();

function codeLengths(): readonly Length[] {
  const all: Length[] = [];
  let [first, offset] = [0, 0];
  for (let bits = 0; bits <= MAX_BITS; bits += 1) {
    const count = lengthOf.filter((length) => length === bits).length;
    all.push({ first, count, offset });
    offset += count;
    first = (first + count) * 2;
  }
  return all;
}

/**
 * Decodes a Huffman-coded string of HPACK (RFC 7541 section 5.2), one character per byte; undefined if it is invalid.
 */
export function decodeHuffman(bytes: Buffer): string | undefined {
  const decoded: number[] = [];
  let [code, bits] = [0, 0];
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit -= 1) {
      code = code * 2 + ((byte >> bit) & 1);
      bits += 1;
      const { first, count, offset } = lengths[bits]!;
      if (code - first >= count) continue;
      const symbol = byLength[offset + code - first]!;
      if (symbol === EOS) return undefined;
      decoded.push(symbol);
      [code, bits] = [0, 0];
    }
  }
  // The padding is the start of EOS: fewer than eight bits, all of them 1.
  const isPadding = bits < 8 && code === 2 ** bits - 1;
  return isPadding ? Buffer.from(decoded).toString('latin1') : undefined;
}
