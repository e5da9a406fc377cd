import type { ProbeRecord } from '@vantage/contract';
import { openProbeRecords } from '@vantage/coordinator';
import { pause } from '@vantage/timers';

const POLL_INTERVAL_MS = 2_000;

/**
 * Writes the records of this start again if Redis has no record at all, as after `FLUSHALL`: the agents run on, but no
 * coordinator knows them. A record stays removed as long as there is another one.
 *
 * @returns a function that stops this
 */
export function keepRegistrations(
  redisUrl: string,
  wanted: readonly ProbeRecord[],
  report: (line: string) => void,
): () => Promise<void> {
  const stopping = new AbortController();
  const polling = (async () => {
    while (!stopping.signal.aborted) {
      // Without Redis nothing can be written; its absence is reported elsewhere.
      const written = await restore(redisUrl, wanted).catch(() => false);
      if (written) report('Redis was emptied; the probes are registered again');
      await pause(POLL_INTERVAL_MS, stopping.signal);
    }
  })();
  return async () => {
    stopping.abort();
    await polling;
  };
}

async function restore(redisUrl: string, wanted: readonly ProbeRecord[]): Promise<boolean> {
  const { records, close } = await openProbeRecords(redisUrl);
  try {
    if ((await records.list()).length > 0) return false;
    for (const record of wanted) await records.write(record);
    return wanted.length > 0;
  } finally {
    await close();
  }
}
