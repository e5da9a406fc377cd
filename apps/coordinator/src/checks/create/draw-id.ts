import { createHash, randomFillSync } from 'node:crypto';

const ID_BYTES = 16;
/** Random bytes for many ids at once: each call of the system's generator is expensive. */
const drawn = Buffer.alloc(64 * ID_BYTES);
let usedTo = drawn.length;

/** Draws a random id that does not begin with `-`, because a command line would take it for an option. */
export function drawId(): string {
  const id = drawText();
  return id.startsWith('-') ? drawId() : id;
}

/** The id of a check that several coordinators may start: the same for the same text. */
export function deriveId(text: string): string {
  const id = createHash('sha256').update(text).digest().subarray(0, ID_BYTES).toString('base64url');
  return id.startsWith('-') ? deriveId(`${text}\n`) : id;
}

function drawText(): string {
  if (usedTo === drawn.length) {
    randomFillSync(drawn);
    usedTo = 0;
  }
  const from = usedTo;
  usedTo += ID_BYTES;
  return drawn.toString('base64url', from, usedTo);
}
