/** Started by `watchStalls`: repeats the same short work, and tells each time that it took much longer than it needs. */
import { createHash } from 'node:crypto';

import { historyNow } from './history.ts';

const EVERY_MS = 50;
/** About a millisecond of an idle core. */
const WORK = Buffer.alloc(256 * 1_024);
const STALLS_MS = 250;

let dueAt = historyNow();
setInterval(() => {
  createHash('sha256').update(WORK).digest();
  const now = historyNow();
  // From when it was to begin: it may have been kept from that, too.
  if (now - dueAt > STALLS_MS) process.send?.({ from: dueAt, to: now });
  dueAt = now + EVERY_MS;
}, EVERY_MS);
