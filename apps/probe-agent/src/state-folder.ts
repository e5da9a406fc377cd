import { constants } from 'node:fs';
import { access } from 'node:fs/promises';

/** Interval at which access to the folder is tested. */
const POLL_INTERVAL_MS = 5_000;

/**
 * Detects that the state folder is no longer writable, which an agent with a long-lived connection would otherwise
 * learn only when it reconnects. A full disk does not matter: the file of the next counter then replaces that of the
 * previous one.
 *
 * @returns a function that returns why the probe is degraded, or an empty list; each call may start a test, whose
 * outcome a later call returns
 */
export function watchFolder(folder: string, nowMs = () => performance.now()): () => readonly string[] {
  let polledAt = Number.NEGATIVE_INFINITY;
  let isPolling = false;
  let reasons: readonly string[] = [];
  const poll = async (): Promise<void> => {
    try {
      await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
      reasons = [];
    } catch (error) {
      reasons = [faultOf((error as NodeJS.ErrnoException).code ?? 'unknown')];
    }
  };
  return () => {
    if (!isPolling && nowMs() - polledAt >= POLL_INTERVAL_MS) {
      isPolling = true;
      polledAt = nowMs();
      void poll().finally(() => (isPolling = false));
    }
    return reasons;
  };
}

/** Leaves out the path, because anyone may read the reason. */
function faultOf(code: string): string {
  return `The state folder of the agent cannot be used (${code}): once its connection ends, it cannot connect again.`;
}
