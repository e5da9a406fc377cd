import { get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';

import { createClient } from '@vantage/client';
import { redisKeys } from '@vantage/contract';
import { tracerouteResult } from '@vantage/test-support/traceroute-result';
import { Redis } from 'ioredis';

import { median, type Figure } from '../goals.ts';
import { cpuMs } from '../load/processes.ts';
import { onStage, type Stage } from '../load/stage.ts';

const PROBES = 100;
const READS = 40;
const ROUNDS = 5;
const encodings = ['identity', 'gzip', 'br'] as const;
type Encoding = (typeof encodings)[number];

/**
 * Costs of the results of a check on 100 probes: memory in Redis, bytes on the wire, and CPU of the coordinator per
 * read.
 */
export async function bytes(): Promise<readonly Figure[]> {
  return onStage({ probes: PROBES, agents: 'none' }, async (stage) => {
    const ordinary = await runCheck(stage, 16);
    const long = await runCheck(stage, 30);
    const url = `${stage.urls[0]!}/check/${ordinary.id}/results`;
    const sizes = new Map<Encoding, number>();
    for (const encoding of encodings) sizes.set(encoding, await read(url, encoding));
    const cost = await costOfReads(stage, url);
    const [plain, gzip, br] = encodings.map((encoding) => (sizes.get(encoding) ?? 0) / 1_024);
    const name = `traceroute of 16 hops on ${PROBES} probes`;
    return [
      { name: `${name}: Redis for each result`, value: ordinary.bytesPerResult, unit: 'bytes', atMost: 2_048 },
      { name: 'traceroute of 30 hops: Redis for each result', value: long.bytesPerResult, unit: 'bytes' },
      { name: `${name}: answer as it is`, value: plain!, unit: 'KiB' },
      { name: `${name}: answer in gzip`, value: gzip!, unit: 'KiB' },
      {
        name: `${name}: answer in br`,
        value: br!,
        unit: 'KiB',
        atMost: plain! / 6,
        comparison: 'a sixth of it as it is',
      },
      { name: `${name}: CPU of a read as it is`, value: cost.plainMs, unit: 'ms' },
      {
        name: `${name}: CPU of a repeated read in br, relative to one as it is`,
        value: cost.relative,
        unit: '',
        atMost: 1.1,
        comparison: `median of ${ROUNDS} rounds in turns`,
      },
    ];
  });
}

interface Run {
  readonly id: string;
  readonly bytesPerResult: number;
}

/** Starts a check, and writes a result for each of its probes as their agents would. */
async function runCheck({ urls, redisPort }: Stage, hops: number): Promise<Run> {
  const client = createClient({ baseUrl: urls[0]! });
  const { checkId: id } = await client.startCheck({ type: 'traceroute', host: '127.0.0.1', limit: PROBES });
  const redis = new Redis({ port: redisPort, host: '127.0.0.1' });
  const probes = Object.keys((await client.results(id)).results);
  for (const [seed, probe] of probes.entries()) {
    const data = JSON.stringify(tracerouteResult(seed, hops));
    await redis.xadd(redisKeys.results(probe), '*', 'check', id, 'kind', 'final', 'data', data);
    await redis.publish(redisKeys.resultNotification(probe), '1');
  }
  const check = await client.results(id, { waitSeconds: 25 });
  const successes = Object.values(check.results).filter(({ result }) => result === 'success').length;
  if (successes !== PROBES) throw new Error(`${successes} of ${PROBES} results are there.`);
  const memory = await redis.memory('USAGE', redisKeys.checkResults(id), 'SAMPLES', 0);
  redis.disconnect();
  return { id, bytesPerResult: (memory ?? 0) / PROBES };
}

async function read(url: string, encoding: Encoding): Promise<number> {
  const [response] = (await once(get(url, { headers: { 'Accept-Encoding': encoding } }), 'response')) as [
    IncomingMessage,
  ];
  const body = await buffer(response);
  const sent = response.headers['content-encoding'] ?? 'identity';
  if (response.statusCode !== 200 || sent !== encoding) throw new Error(`${response.statusCode} in ${sent}`);
  return body.length;
}

async function costOfReads(
  { pids }: Stage,
  url: string,
): Promise<{ readonly plainMs: number; readonly relative: number }> {
  const [pid = 0] = pids.coordinators;
  const cost = async (encoding: Encoding): Promise<number> => {
    const before = cpuMs(pid);
    for (let reads = 0; reads < READS; reads += 1) await read(url, encoding);
    return (cpuMs(pid) - before) / READS;
  };
  // Warm-up: V8 compiles the code before the first measured round.
  await cost('identity');
  const [plains, shares]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const plain = await cost('identity');
    plains.push(plain);
    shares.push((await cost('br')) / plain);
  }
  return { plainMs: median(plains), relative: median(shares) };
}
