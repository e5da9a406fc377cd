import { createHash } from 'node:crypto';

/** Limit of nested percent encodings. */
const MOST_DECODINGS = 4;

/**
 * Text that may contain an id. Of the other paths of the service, some names of monitors and of files of the web page
 * match too, and are replaced; a random id without capital letters and digits has a probability of 1e-8.
 */
const ID = /(?=[\w-]*[A-Z\d])[\w-]{16,}/g;

/**
 * Replaces everything in a path that may be a check id, also percent-encoded, with a digest. An id grants access to the
 * results, and the log also contains the client's address.
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
    // Byte by byte, because encoded ASCII must be decoded even next to invalid UTF-8.
    text = text.replaceAll(/%([0-7][\da-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  // Text that is encoded more deeply may be an id and is replaced as a whole.
  return text.replaceAll(/(?:%(?:25)*[\da-f]{2})+/gi, (run) => (run.includes('%25') ? 'X'.repeat(16) : run));
}
