import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { quantile } from '../goals.ts';
import { countCpu } from './processes.ts';

/** Outcomes of a series of POSTs. */
export interface Posted {
  /** Duration of each accepted POST, milliseconds. */
  readonly times: readonly number[];
  /** CPU time of the server meanwhile, ms. */
  readonly cpuMs: number;
}

export interface PostFigures {
  readonly perSecondOfCore: number;
  readonly p50: number;
  readonly p99: number;
}

const AT_ONCE = 16;
/** Request of a type whose deadline is 15 s: no check ends during the measurement, so only the POST is measured. */
const BODY = JSON.stringify({ type: 'http', host: 'http://127.0.0.1/', limit: 5 });

interface PostOptions {
  readonly body?: string;
  /** Maximum number of checks. */
  readonly most?: number;
  /** Even rate of the POSTs; without it, each connection posts as soon as it has an answer. */
  readonly perSecond?: number;
}

/** Posts checks for this many seconds over `AT_ONCE` persistent connections, one after another on each. */
export async function postFor(
  url: string,
  pid: number,
  seconds: number,
  { body = BODY, most = Number.POSITIVE_INFINITY, perSecond = Number.POSITIVE_INFINITY }: PostOptions = {},
): Promise<Posted> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const times: number[] = [];
  const refused = new Map<number, number>();
  const cpu = countCpu({ server: [pid] });
  const from = performance.now();
  const until = from + seconds * 1_000;
  let next = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < until && next < most) {
      const early = from + (next / perSecond) * 1_000 - performance.now();
      next += 1;
      if (early > 0) await sleep(early);
      const begin = performance.now();
      const status = await post(url, agent, body);
      if (status === 202) times.push(performance.now() - begin);
      else refused.set(status, (refused.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const { server } = cpu();
  agent.destroy();
  if (times.length === 0) throw new Error(`No POST was accepted: ${JSON.stringify([...refused])}`);
  if (refused.size > 0) process.stderr.write(`POSTs refused: ${JSON.stringify([...refused])}\n`);
  return { times, cpuMs: server };
}

/** Combines the figures of several series. */
export function postFigures(posted: readonly Posted[]): PostFigures {
  const times = posted.flatMap((one) => one.times);
  const cpuMs = posted.reduce((sum, one) => sum + one.cpuMs, 0);
  return { perSecondOfCore: times.length / (cpuMs / 1_000), p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

function post(url: string, agent: Agent, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(`${url}/check`, { agent, method: 'POST', headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
