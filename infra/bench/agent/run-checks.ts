import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import type { BenchCheck } from './checks.ts';
import type { Stage } from './stage.ts';

/** Rate and number of checks of one type. The exporter's probes follow the agent's checks after half an interval. */
export interface Pace {
  readonly perSecond: number;
  readonly checks: number;
}

/** Wait after the last check, in which the agent reports it and the coordinator removes its job. */
const SETTLE_MS = 300;
const agent = new Agent({ keepAlive: true });

export interface Outcomes {
  /** Count per outcome of the agent's checks: `success`, or the reason of the failure. */
  readonly agent: Map<string, number>;
  /** Successes of the exporter. */
  exporter: number;
}

/**
 * @param measured called when the last check has settled, before the results are counted
 * @returns the number of successful checks of the agent
 */
export async function runChecks(
  stage: Stage,
  check: BenchCheck,
  { perSecond, checks }: Pace,
  outcomes: Outcomes,
  measured: () => void,
): Promise<number> {
  const { client } = stage.deployment;
  const everyMs = 1_000 / perSecond;
  const ids: Promise<{ readonly id: string } | { readonly refused: string }>[] = [];
  const probed: Promise<boolean>[] = [];
  const started = performance.now();
  for (let sent = 0; sent < checks; sent += 1) {
    await until(started + sent * everyMs);
    const posted = client.startCheck(check.request);
    ids.push(
      posted.then(
        ({ checkId: id }) => ({ id }),
        (error: Error) => ({ refused: error.message }),
      ),
    );
    await until(started + (sent + 0.5) * everyMs);
    probed.push(probe(stage.exporter.url, check));
  }
  await until(started + checks * everyMs);
  outcomes.exporter += (await Promise.all(probed)).filter(Boolean).length;
  const posted = await Promise.all(ids);
  const accepted = posted.flatMap((post) => ('id' in post ? [post.id] : []));
  if (accepted.length > 0) await client.results(accepted.at(-1)!, { waitSeconds: 20 });
  await sleep(SETTLE_MS);
  measured();
  let succeeded = 0;
  for (const post of posted) {
    const became = 'id' in post ? await resultOf(stage, post.id) : post.refused;
    outcomes.agent.set(became, (outcomes.agent.get(became) ?? 0) + 1);
    if (became === 'success') succeeded += 1;
  }
  return succeeded;
}

async function until(at: number): Promise<void> {
  const wait = at - performance.now();
  if (wait > 0) await sleep(wait);
}

async function resultOf({ deployment }: Stage, id: string): Promise<string> {
  const { results } = await deployment.client.results(id, { waitSeconds: 20 });
  const [result] = Object.values(results);
  return result?.error?.code ?? result?.result ?? 'no result';
}

/**
 * Requests a probe of the exporter with plain `node:http`, which is cheap: the client's CPU time is not counted, but
 * the client shares the processors with the measured processes.
 */
function probe(url: string, { type, target }: BenchCheck): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = get(`${url}/probe?module=${type}&target=${encodeURIComponent(target)}`, { agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve(text.includes('\nprobe_success 1')));
      response.on('error', () => resolve(false));
    });
    asked.on('error', () => resolve(false));
  });
}
