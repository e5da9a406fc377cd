import { setTimeout as sleep } from 'node:timers/promises';

import type { Deployment } from './deployment.ts';
import { historyNow } from './history.ts';
import { TARGET_NAME } from './targets.ts';

/** Recovery of a probe after a fault. */
export interface Recovery {
  readonly probe: string;
  /** The end of the fault, milliseconds since the epoch. */
  readonly from: number;
  /**
   * Time from the end of the fault to the first success, milliseconds; null if there was none within a minute without
   * stalls, or within ten minutes.
   */
  readonly ms: number | null;
}

const ASK_EVERY_MS = 250;
const GIVE_UP_MS = 60_000;
/** Time limit that includes stalls of the machine, which `GIVE_UP_MS` does not. */
const GIVE_UP_ANYWAY_MS = 600_000;
/**
 * Longest time until a check of one TCP handshake has ended: its deadline of 5 s, the promised 2 s, and a second for
 * the requests.
 */
const ANSWERS_WITHIN_MS = 8_000;

/**
 * Starts checks on every probe separately, at any coordinator, until one succeeds; starts no process again.
 *
 * @param stalledSince see `StallWatch`
 */
export function recoveries(
  deployment: Deployment,
  stalledSince: (from: number) => number,
): Promise<readonly Recovery[]> {
  const from = historyNow();
  const givesUp = (): boolean => {
    const elapsedMs = historyNow() - from;
    return elapsedMs - stalledSince(from) > GIVE_UP_MS || elapsedMs > GIVE_UP_ANYWAY_MS;
  };
  return Promise.all(
    deployment.agents.map(async ({ id }, index) => {
      const first = Promise.withResolvers<number>();
      let ms: number | null = null;
      void first.promise.then((foundMs) => (ms = foundMs));
      for (let attempt = index; !givesUp(); attempt += 1) {
        const { url } = deployment.coordinators[attempt % deployment.coordinators.length]!;
        const ended = succeeds(url, id, deployment.targets.tcpPort).then((succeeded) => {
          if (succeeded) first.resolve(historyNow() - from);
        });
        // A check that waits must not delay the next one, and its success counts as well.
        await Promise.race([ended, first.promise, sleep(ASK_EVERY_MS * 4)]);
        if (ms !== null) break;
        await sleep(ASK_EVERY_MS);
      }
      return { probe: id, from, ms };
    }),
  );
}

async function succeeds(url: string, probe: string, port: number): Promise<boolean> {
  const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS);
  const body = { type: 'tcp', host: TARGET_NAME, port, probes: [probe], options: { attempts: 1 } };
  try {
    const started = await fetch(`${url}/check`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    });
    if (started.status !== 202) return false;
    const { checkId } = (await started.json()) as { readonly checkId: string };
    const read = await fetch(`${url}/check/${checkId}/results?wait=5`, { signal });
    if (read.status !== 200) return false;
    const { results } = (await read.json()) as { readonly results: Readonly<Record<string, { result: string }>> };
    return results[probe]?.result === 'success';
  } catch {
    return false;
  }
}
