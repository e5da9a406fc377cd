import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Probes } from '@vantage/contract';

import type { Supervised } from './supervised.ts';

export interface Awaited {
  readonly url: string;
  /** How many probes should report. */
  readonly probes: number;
  readonly processes: readonly Supervised[];
  readonly logFolder: string;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Longest time in which the coordinator and the probes report before we go on and say what is missing. */
const READY_WITHIN_MS = 90_000;

const LOOK_EVERY_MS = 250;

/**
 * Waits until every probe has reported. What has not by then is shown as it is: without root the probes are degraded,
 * and the rest works.
 *
 * @throws Error with a sentence for the user when the coordinator does not answer, or when a process cannot run at all
 */
export async function untilReady({ url, probes, processes, logFolder, report, signal }: Awaited): Promise<Probes> {
  const until = performance.now() + READY_WITHIN_MS;
  let isUp = false;
  for (let look = 0; ; look += 1) {
    const failed = processes.find(({ failure }) => failure() !== undefined);
    if (failed !== undefined) throw new Error(`${failed.name} cannot run:\n${failed.failure()}`);
    const isTimeUp = performance.now() > until;
    if (!isUp) {
      isUp = (await ask(`${url}/healthz`, look, signal)) !== undefined;
      if (isUp) report(`The coordinator listens on ${url}`);
    } else {
      // Redis may still be connecting: a problem document then, and another look.
      const seen = (await ask(`${url}/probes`, look, signal)) as Probes | undefined;
      const up = Object.values(seen ?? {}).filter(({ status }) => status !== 'offline');
      if (seen !== undefined && (up.length >= probes || isTimeUp)) return seen;
    }
    if (isTimeUp)
      throw new Error(`The ${isUp ? 'service did not get ready' : 'coordinator did not start'}. Logs: ${logFolder}`);
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
}

/**
 * Each look comes from a loopback address of its own: the limits count by address, and whoever asks from this machine
 * shall have all of theirs.
 *
 * @returns the JSON of the answer, or undefined where there is none or it is no success
 */
async function ask(url: string, look: number, signal: AbortSignal): Promise<unknown> {
  // Linux has all of 127.0.0.0/8 on its loopback interface; other systems have one address.
  const localAddress = process.platform === 'linux' ? `127.0.1.${(look % 254) + 1}` : undefined;
  try {
    const request = get(url, { localAddress, agent: false, signal });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const body = await text(response);
    return response.statusCode === 200 ? (JSON.parse(body) as unknown) : undefined;
  } catch {
    return undefined;
  }
}
