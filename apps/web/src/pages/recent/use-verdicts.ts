import { isFinalRefusal, type Client } from '@vantage/client';
import { useEffect } from 'preact/hooks';

import { useService } from '../../parts/router.tsx';
import { rememberVerdict, type RecentCheck } from '../../recent.ts';

/** Reads missing verdicts of listed checks, such as those of checks whose page was closed before their end. */
export function useVerdicts(listed: readonly RecentCheck[], onRead: () => void): void {
  const { client } = useService();
  useEffect(() => {
    const ended = new AbortController();
    const unknown = listed.flatMap(({ id, verdict }) => (verdict === undefined ? [id] : []));
    // A refusal or an interruption: the next visit asks again.
    readVerdicts(client, unknown, ended.signal, onRead).catch(() => {});
    return () => ended.abort();
  }, [client]);
}

async function readVerdicts(
  client: Client,
  ids: readonly string[],
  signal: AbortSignal,
  onRead: () => void,
): Promise<void> {
  for (const id of ids) {
    const verdict = await verdictOf(client, id, signal);
    if (verdict === undefined) continue;
    rememberVerdict(id, verdict);
    onRead();
  }
}

/** The verdict of a check; `gone` if it is no longer stored, undefined if it is not completed. */
async function verdictOf(client: Client, id: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const summary = await client.summary(id, { signal });
    return summary.status === 'completed' ? summary.verdict : undefined;
  } catch (error) {
    if (isFinalRefusal(error) && (error.status === 404 || error.status === 410)) return 'gone';
    throw error;
  }
}
