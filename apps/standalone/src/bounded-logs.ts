import { copyFileSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

const MAX_BYTES = 10 * 1024 * 1024;
const POLL_INTERVAL_MS = 10_000;

/**
 * Rotates the logs of a folder: a log above the size limit is copied to `<name>.log.1` and truncated in place, since
 * writers keep it open for appending. A line written between the two steps is lost.
 *
 * @returns a function that stops the rotation
 */
export function rotateLogs(folder: string, maxBytes = MAX_BYTES, everyMs = POLL_INTERVAL_MS): () => void {
  rotate(folder, maxBytes);
  const timer = setInterval(() => rotate(folder, maxBytes), everyMs);
  return () => clearInterval(timer);
}

/** A missing folder or a full disk must not stop the service; the next run retries. */
function rotate(folder: string, maxBytes: number): void {
  try {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name);
      if (!name.endsWith('.log') || statSync(file).size <= maxBytes) continue;
      copyFileSync(file, `${file}.1`);
      truncateSync(file);
    }
  } catch {
    // Retried by the next run.
  }
}
