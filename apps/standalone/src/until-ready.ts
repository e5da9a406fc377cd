import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Probes } from '@vantage/contract';

import type { Supervised } from './supervised.ts';

export interface Awaited {
  readonly url: string;
  /** Expected number of probes. */
  readonly probes: number;
  readonly processes: readonly Supervised[];
  readonly logFolder: string;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

/** An import of `node:http` would load Node's fetch, which costs CPU time and memory and is not needed. */
const { get } = process.getBuiltinModule('node:http');

/** Limit of the wait for the coordinator and the probes; after it, those probes suffice that have reported. */
const READY_WITHIN_MS = 90_000;

const POLL_INTERVAL_MS = 250;

/**
 * Waits until all probes have reported, at most `READY_WITHIN_MS`, and returns them in their current state, such as
 * degraded without root.
 *
 * @throws Error with a sentence for the user if the coordinator does not respond, or if a process cannot run; an
 *   AbortError if `signal` aborts
 */
export async function waitUntilReady({ url, probes, processes, logFolder, report, signal }: Awaited): Promise<Probes> {
  const until = performance.now() + READY_WITHIN_MS;
  let isUp = false;
  for (let poll = 0; ; poll += 1) {
    const failed = processes.find(({ failure }) => failure() !== undefined);
    if (failed !== undefined) throw new Error(`${failed.name} cannot run:\n${failed.failure()}`);
    const isTimeUp = performance.now() > until;
    if (!isUp) {
      isUp = (await ask(`${url}/healthz`, poll, signal)) !== undefined;
      if (isUp) report(`The coordinator listens on ${url}`);
    } else {
      // While Redis is connecting, the response is a problem document: poll again.
      const seen = (await ask(`${url}/probes`, poll, signal)) as Probes | undefined;
      const up = Object.values(seen ?? {}).filter(({ status }) => status !== 'offline');
      if (seen !== undefined && (up.length >= probes || isTimeUp)) return seen;
    }
    if (isTimeUp)
      throw new Error(`The ${isUp ? 'service did not get ready' : 'coordinator did not start'}. Logs: ${logFolder}`);
    await sleep(POLL_INTERVAL_MS, undefined, { signal });
  }
}

/**
 * Polls from different loopback addresses, so that the local user's rate limit is not consumed.
 *
 * @returns the JSON body; undefined without a successful response
 */
async function ask(url: string, poll: number, signal: AbortSignal): Promise<unknown> {
  // On Linux every address of 127.0.0.0/8 is local; other systems have only 127.0.0.1.
  const localAddress = process.platform === 'linux' ? `127.0.1.${(poll % 254) + 1}` : undefined;
  try {
    const request = get(url, { localAddress, agent: false, signal });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const body = await text(response);
    return response.statusCode === 200 ? (JSON.parse(body) as unknown) : undefined;
  } catch {
    return undefined;
  }
}
