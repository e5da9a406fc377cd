import { setTimeout as sleep } from 'node:timers/promises';

import { startFuzzBed, type FuzzBed } from '../fuzz/bed.ts';
import { fuzz } from '../fuzz/run.ts';
import { hostileInputs } from './hostile-inputs.ts';
import type { HostileInput } from './hostile-input.ts';

export interface ApiReport {
  readonly inputs: number;
  /** Inputs for which a check was started, each with the reason why it must be refused. */
  readonly wronglyAccepted: readonly string[];
  readonly serverErrors: number;
  /** Error responses that are not problem documents, and other violations of the API's guarantees. */
  readonly faults: readonly string[];
  readonly longestMs: number;
}

/**
 * Sends hostile inputs, as a client would, to a real coordinator without agents.
 *
 * @param every one input out of this many is tried
 */
export async function tryHostileInputs(every = 1): Promise<ApiReport> {
  const bed = await startFuzzBed();
  try {
    return await sendAll(
      bed,
      hostileInputs().filter((_, index) => index % every === 0),
    );
  } finally {
    await bed.stop();
  }
}

/** Sends requests generated from the OpenAPI document. */
export async function tryFuzz(seed: number, requests: number): Promise<ApiReport> {
  const bed = await startFuzzBed();
  try {
    const { sent, faults, logged, longestMs, ...errors } = await fuzz(bed, { seed, isDone: (n) => n >= requests });
    const inputs = Object.values(sent).reduce((sum, count) => sum + count, 0);
    const serverErrors = errors.serverErrors + errors.unavailable;
    return { inputs, wronglyAccepted: [], serverErrors, faults: [...faults, ...logged], longestMs };
  } finally {
    await bed.stop();
  }
}

/** Maximum number of repetitions of a request whose answer is 503, as when the store is too slow on a busy machine. */
const TIMES_AGAIN = 20;

/**
 * A 503 says nothing about the input, so the request is repeated up to `TIMES_AGAIN` times; then the last 503 is
 * returned.
 */
async function untilTaken(ask: () => Promise<Response>): Promise<Response> {
  let answer = await ask();
  for (let again = 0; answer.status === 503 && again < TIMES_AGAIN; again += 1) {
    await answer.body?.cancel();
    await sleep(250);
    answer = await ask();
  }
  return answer;
}

async function sendAll({ coordinator }: FuzzBed, inputs: readonly HostileInput[]): Promise<ApiReport> {
  const queue = inputs.values();
  const wronglyAccepted: string[] = [];
  const faults: string[] = [];
  let [serverErrors, longestMs] = [0, 0];
  const worker = async (): Promise<void> => {
    for (const { why, body } of queue) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const startedAt = performance.now();
      const answer = await untilTaken(() =>
        fetch(`${coordinator.url}/check`, {
          method: 'POST',
          body: text,
          headers: { 'Content-Type': 'application/json' },
        }),
      );
      const said = await answer.text();
      longestMs = Math.max(longestMs, performance.now() - startedAt);
      if (answer.status === 202) wronglyAccepted.push(`${why}: ${text.slice(0, 200)}`);
      else if (answer.headers.get('Content-Type') !== 'application/problem+json')
        faults.push(`${why}: no problem document`);
      if (answer.status >= 500) serverErrors += 1;
      if (said.length > 8_192) faults.push(`${why}: an answer of ${said.length} characters`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  faults.push(...coordinator.errors);
  if (!coordinator.isAlive()) faults.push('the coordinator has ended');
  return { inputs: inputs.length, wronglyAccepted, serverErrors, faults, longestMs };
}
