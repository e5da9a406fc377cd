import { constants } from 'node:fs';
import { access } from 'node:fs/promises';

/** Interval at which access to the folder is tested. */
const LOOK_EVERY_MS = 5_000;

/**
 * Detects that the state folder is no longer writable, which an agent with a long-lived connection would otherwise
 * learn only when it reconnects. A full disk does not matter: the file of the next counter then replaces that of the
 * previous one.
 *
 * @returns a function that returns why the probe is degraded, or an empty list; each call may start a test, whose
 * outcome a later call returns
 */
export function watchFolder(folder: string, nowMs = () => performance.now()): () => readonly string[] {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isLooking = false;
  let reasons: readonly string[] = [];
  const look = async (): Promise<void> => {
    try {
      await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
      reasons = [];
    } catch (error) {
      reasons = [faultOf((error as NodeJS.ErrnoException).code ?? 'unknown')];
    }
  };
  return () => {
    if (!isLooking && nowMs() - lookedAt >= LOOK_EVERY_MS) {
      isLooking = true;
      lookedAt = nowMs();
      void look().finally(() => (isLooking = false));
    }
    return reasons;
  };
}

/** Leaves out the path, because anyone may read the reason. */
function faultOf(code: string): string {
  return `The state folder of the agent cannot be used (${code}): once its connection ends, it cannot connect again.`;
}
