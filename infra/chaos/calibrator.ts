/**
 * Started by `watchStalls`: repeats a short piece of work, and reports the time that the machine lost at each
 * repetition with a delay over `WAITS_MS`.
 */
import { createHash } from 'node:crypto';

import { historyNow } from './history.ts';

const EVERY_MS = 250;
/** Input to hash: some milliseconds of a core. */
const WORK = Buffer.alloc(4 * 1_024 * 1_024);
/** Delays up to this are not reported: they are normal on a shared core. */
const WAITS_MS = 60;

// The parent has ended.
process.once('disconnect', () => process.exit());

let before = historyNow();
for (;;) {
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  const dueAt = before + EVERY_MS;
  const used = process.cpuUsage();
  createHash('sha256').update(WORK).digest();
  const { user, system } = process.cpuUsage(used);
  const workMs = (user + system) / 1_000;
  const now = historyNow();
  const waitedMs = now - dueAt - workMs;
  // For the sleep before the work, the same share of time counts as lost as during the work.
  const lostMs = (now - before) * (waitedMs / (waitedMs + workMs));
  if (waitedMs > WAITS_MS) process.send?.({ from: Math.round(now - lostMs), to: now });
  before = now;
}
