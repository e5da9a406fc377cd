import { createHash } from 'node:crypto';

/** Encodings of an encoding: nobody needs more. */
const MOST_DECODINGS = 4;

/**
 * A run that may be an id or contain one. Words of our paths have no capital and no digit; of random ids, one in a hundred million
 * has neither.
 */
const ID = /(?=[\w-]*[A-Z\d])[\w-]{16,}/g;

/**
 * A path for the log: a digest in place of everything that may be a check's id, however it is spelled. The id is all that a reader
 * needs for the results, and the log has the client's address beside it.
 */
export function withoutCheckIds(path: string): string {
  const plain = decoded(path);
  if (plain.search(ID) === -1) return path;
  return encodeURI(
    plain.replaceAll(ID, (id) => {
      const hash = createHash('sha256').update(id).digest('base64url');
      return `sha256:${hash.slice(0, 12)}`;
    }),
  );
}

function decoded(path: string): string {
  let text = path;
  for (let round = 0; round < MOST_DECODINGS && text.includes('%'); round += 1) {
    // Byte by byte: an encoding of ASCII stays readable beside bytes that are no UTF-8.
    text = text.replaceAll(/%([0-7][\da-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  // What is encoded still deeper may be an id: it shows as one run.
  return text.replaceAll(/(?:%(?:25)*[\da-f]{2})+/gi, (run) => (run.includes('%25') ? 'X'.repeat(16) : run));
}
