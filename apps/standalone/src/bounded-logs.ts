import { copyFileSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

const MAX_BYTES = 10 * 1024 * 1024;
const LOOK_EVERY_MS = 10_000;

/**
 * Keeps each log of a folder below a size: one that is larger becomes `<name>.log.1`, in place of the one before, and begins
 * anew. Whoever writes it has it open for appending and goes on at the new end; a line that is written in between is lost.
 *
 * @returns ends it
 */
export function boundLogs(folder: string, maxBytes = MAX_BYTES, everyMs = LOOK_EVERY_MS): () => void {
  turnOver(folder, maxBytes);
  const timer = setInterval(() => turnOver(folder, maxBytes), everyMs);
  return () => clearInterval(timer);
}

/** A folder that is gone, or a disk that is full, must not end what runs: the next look tries again. */
function turnOver(folder: string, maxBytes: number): void {
  try {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name);
      if (!name.endsWith('.log') || statSync(file).size <= maxBytes) continue;
      copyFileSync(file, `${file}.1`);
      truncateSync(file);
    }
  } catch {
    // Said above.
  }
}
