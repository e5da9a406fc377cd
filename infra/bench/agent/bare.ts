import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { findRedisServer, startRedisServer } from '@vantage/redis-server';

import { end, startWorker } from '../load/processes.ts';
import { QUERY_NAME, type BenchCheck, type TargetPorts } from './checks.ts';
import { treeCpuMs } from './processes.ts';
import type { Pace } from './run-checks.ts';

/** CPU per job, milliseconds. */
export interface BareCpu {
  readonly server: number;
  readonly redis: number;
  readonly worker: number;
}

/**
 * The floor of a check's cost: a bare Express with JSON and ajv that adds one BullMQ job per POST, and a bare worker
 * that measures with nothing but Node and stores a result in Redis.
 */
export interface BareService {
  readonly run: (type: BenchCheck['type'], pace: Pace) => Promise<BareCpu>;
  readonly stop: () => Promise<void>;
}

const SERVER = new URL('../load/bare-post-worker.ts', import.meta.url);
const WORKER = new URL('bare-worker.ts', import.meta.url);
const WARM_UP: Pace = { perSecond: 100, checks: 250 };
/** Wait after the last POST, in which its job ends. */
const SETTLE_MS = 300;

export async function startBareService({ tcp, http, dns }: TargetPorts): Promise<BareService> {
  const redis = await startRedisServer({ executable: findRedisServer(process.env['PATH'] ?? '')! });
  const server = await startWorker(SERVER, [String(redis.port), '1']);
  const worker = await startWorker(WORKER, [...[redis.port, tcp, http, dns].map(String), QUERY_NAME]);
  const url = `http://127.0.0.1:${String(server.said)}/check`;
  const agent = new Agent({ keepAlive: true });
  const pids = { server: server.child.pid!, redis: redis.pid, worker: worker.child.pid! };
  const used = (): BareCpu => ({
    server: treeCpuMs(pids.server),
    redis: treeCpuMs(pids.redis),
    worker: treeCpuMs(pids.worker),
  });
  const run: BareService['run'] = async (type, { perSecond, checks }) => {
    const before = used();
    const started = performance.now();
    const posts: Promise<void>[] = [];
    for (let sent = 0; sent < checks; sent += 1) {
      const wait = started + (sent * 1_000) / perSecond - performance.now();
      if (wait > 0) await sleep(wait);
      posts.push(post(url, agent, type));
    }
    await Promise.all(posts);
    await sleep(SETTLE_MS);
    const after = used();
    const perJob = (name: keyof BareCpu): number => (after[name] - before[name]) / checks;
    return { server: perJob('server'), redis: perJob('redis'), worker: perJob('worker') };
  };
  for (const type of ['tcp', 'ping', 'http', 'dns'] as const) await run(type, WARM_UP);
  return {
    run,
    stop: async () => {
      agent.destroy();
      await Promise.all([end(server.child), end(worker.child)]);
      await redis.stop();
    },
  };
}

function post(url: string, agent: Agent, type: BenchCheck['type']): Promise<void> {
  const body = JSON.stringify({ type, host: '127.0.0.1', port: 1, limit: 1, options: { attempts: 1 } });
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(url, { agent, method: 'POST', headers }, (response) => {
      response
        .resume()
        .on('end', () =>
          response.statusCode === 202 ? resolve() : reject(new Error(`the bare service said ${response.statusCode}`)),
        );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
