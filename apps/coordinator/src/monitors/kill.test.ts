import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  HEARTBEAT_TTL_MS,
  JOB_QUEUE,
  redisKeys,
  WEBHOOK_QUEUE,
  type Heartbeat,
  type StoredPathChange,
} from '@vantage/contract';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { bundledProgram } from '@vantage/test-support/programs/bundled-program';
import { programEnv } from '@vantage/test-support/programs/program-env';
import { Redis } from 'ioredis';
import { Webhook } from 'standardwebhooks';

import { report } from '../../test/check-steps.ts';
import { until } from '../../test/core-bed.ts';
import { TRACED_TARGET, tracedResult } from '../../test/traced-result.ts';
import { openProbeRecords } from '../probes/registry/open-probe-records.ts';
import { putMonitor } from './store/definition-records.ts';
import type { ChangeTask } from './store/outbox-records.ts';
import type { RunRecord } from './state/evaluate-run.ts';
import { digestOf } from './webhooks/message.ts';

const COORDINATOR = bundledProgram('coordinator');
const PROBE = 'fra-1';
const MONITORS = Array.from({ length: 40 }, (_, index) => `monitor-${index}`);
/** Traceroutes whose path changes before each kill. */
const PATHS = Array.from({ length: 20 }, (_, index) => `path-${index}`);
const EVERY_MS = 10_000;
const KILLS = 3;
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
/** Number of messages to one webhook. */
const MESSAGES = 60;

let server: RedisServer;
let redis: Redis;
let folder: string;
let isEnding = false;
const coordinators: ChildProcess[] = [];
const ended: Promise<void>[] = [];
/** Ids of the jobs that the probe has taken. */
const taken: string[] = [];
const routes = [
  ['198.51.100.1', '198.51.100.2', TRACED_TARGET],
  ['198.51.100.1', '198.51.100.8', TRACED_TARGET],
] as const;
/** Index in `routes` of the route that traceroutes take now, and of the route of each that the probe has answered. */
let route = 0;
const routeOf = new Map<string, number>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vantage-kill-'));
  server = await startRedisServer({ executable: findRedisServer(process.env['PATH'] ?? '')! });
  redis = new Redis(server.url);
  const entries = MONITORS.map((name) => `  ${name}: {check: {type: tcp, host: 192.0.2.1, port: 80}, every: 10s}`);
  const traces = PATHS.map((name) => `  ${name}: {check: {type: traceroute, host: ${TRACED_TARGET}}, every: 10s}`);
  writeFileSync(join(folder, 'monitors.yml'), `monitors:\n${[...entries, ...traces].join('\n')}\n`);
  const { records, close } = await openProbeRecords(server.url);
  await records.write({
    id: PROBE,
    name: PROBE,
    datacenter: PROBE,
    countryCode: 'DE',
    isp: 'Example',
    asNumber: 'AS64496',
    city: null,
    latitude: null,
    longitude: null,
    tags: [],
  });
  await close();
  ended.push(repeat(2_000, beat), repeat(20, answerJobs));
  await Promise.all([startCoordinator(), startCoordinator(), startCoordinator()]);
});

afterAll(async () => {
  isEnding = true;
  await Promise.all([...ended, ...coordinators.map(kill)]);
  redis.disconnect();
  await server.stop();
  rmSync(folder, { recursive: true });
});

it('loses and doubles no tick while coordinators are killed', async () => {
  for (let round = 0; round < KILLS; round += 1) {
    const before = taken.length;
    await until(() => taken.length > before + 5);
    route = 1 - route;
    // The other coordinators take over the ticks that the killed one has claimed.
    const [victim] = coordinators.splice(round % coordinators.length, 1);
    await kill(victim!);
    await startCoordinator();
  }
  const before = await readRuns();
  await until(async () => (await readRuns()).every((runs, index) => runs.length >= before[index]!.length + 1));

  const runs = await readRuns();
  const ids = runs.flat().flatMap(({ checkId }) => checkId ?? []);
  for (const ofMonitor of runs) {
    const ticks = ofMonitor.map(({ tick }) => tick);
    expect(ticks).toEqual(ofMonitor.map((_, index) => index + 1));
    expect(ofMonitor.slice(1).filter((run, index) => !follows(ofMonitor[index]!, run))).toEqual([]);
    expect(ofMonitor.every(({ checkId }) => checkId !== null)).toBe(true);
  }
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(taken).size).toBe(taken.length);
  expect(ids.filter((id) => !taken.includes(id))).toEqual([]);
}, 600_000);

it('loses and doubles no change of a path while coordinators are killed', async () => {
  const { runs, changes } = await pathsRead();

  const changed = runs.map((ofMonitor) =>
    ofMonitor
      .filter(
        ({ checkId }, index) => index > 0 && routeOf.get(checkId!) !== routeOf.get(ofMonitor[index - 1]!.checkId!),
      )
      .map(({ checkId }) => checkId),
  );
  expect(changed.flat().length).toBeGreaterThan(0);
  expect(changes.map((ofMonitor) => ofMonitor.map(({ checkId }) => checkId))).toEqual(changed);
}, 600_000);

it('loses no message to a webhook if all coordinators are killed while it is sent', async () => {
  const received: string[] = [];
  let isSilent = true;
  const receiver = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      const { data } = new Webhook(SECRET).verify(body, headers) as { readonly data: { readonly monitor: string } };
      received.push(`${headers['webhook-id']} of ${data.monitor}`);
      if (!isSilent) response.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const request = { check: { type: 'tcp', host: '192.0.2.1', port: 80 }, every: '1d', webhooks: [url] };
  await putMonitor(redis, 'hooks', { owner: 'api', request }, Date.now() + 3_600_000);
  const ids = Array.from({ length: MESSAGES }, (_, index) => `msg_${index}`);
  for (const id of ids) await redis.zadd(redisKeys.monitorOutbox, 0, JSON.stringify(taskOf(id, url)));

  await until(() => received.length > 0);
  await Promise.all(coordinators.splice(0).map(kill));
  const before = [...received];
  const queue = `${redisKeys.webhookQueuePrefix}:${WEBHOOK_QUEUE}`;
  await endLocks(queue);
  isSilent = false;
  await startCoordinator();
  const places = [redisKeys.monitorOutbox, `${queue}:wait`, `${queue}:delayed`, `${queue}:active`];
  await until(async () => (await redis.exists(places)) === 0);

  expect(new Set(received)).toEqual(new Set(ids.map((id) => `${id} of hooks`)));
  const again = new Set(received.slice(before.length));
  expect(before.filter((message) => !again.has(message))).toEqual([]);
  expect(await redis.exists(`${queue}:failed`)).toBe(0);
  receiver.closeAllConnections();
  receiver.close();
}, 600_000);

/** Lets the locks that killed coordinators have on jobs end now; without this they end later. */
async function endLocks(queue: string): Promise<void> {
  const locks = await redis.keys(`${queue}:*:lock`);
  const leftMs = await Promise.all(locks.map((lock) => redis.pttl(lock)));
  expect(leftMs.filter((ms) => ms <= 0 || ms > 60_000)).toEqual([]);
  expect(locks.length).toBeGreaterThan(0);
  await redis.unlink(locks);
}

/** The outbox task that the evaluation of a tick writes together with the state. */
function taskOf(messageId: string, url: string): ChangeTask {
  const event = { kind: 'state', monitor: 'hooks', tick: 1, from: 'ok', to: 'bad', at: new Date().toISOString() };
  return {
    kind: 'change',
    monitor: 'hooks',
    atMs: Date.now(),
    traceId: null,
    messageId,
    webhooks: [digestOf(url)],
    event: event as unknown as ChangeTask['event'],
  };
}

/**
 * True if no tick is missing between two runs without a reason: ticks may be missing only after a run that started more
 * than an interval late.
 */
function follows(before: RunRecord, run: RunRecord): boolean {
  return run.atMs - before.atMs === EVERY_MS || before.startedMs! - before.atMs > EVERY_MS;
}

/** Runs of each monitor, oldest first. */
async function readRuns(): Promise<readonly (readonly RunRecord[])[]> {
  const lists = await Promise.all(MONITORS.map((name) => redis.lrange(redisKeys.monitorRuns(name), 0, -1)));
  return lists.map((list) => list.map((run) => JSON.parse(run) as RunRecord).toReversed());
}

/** Runs and changes of each traceroute at one moment, oldest first. */
async function pathsRead(): Promise<{
  readonly runs: readonly (readonly RunRecord[])[];
  readonly changes: readonly (readonly StoredPathChange[])[];
}> {
  const transaction = redis.multi();
  for (const name of PATHS)
    transaction.lrange(redisKeys.monitorRuns(name), 0, -1).lrange(redisKeys.monitorPaths(name), 0, -1);
  const lists = (await transaction.exec())!.map(([, list]) => (list as string[]).toReversed());
  const parsed = lists.map((list) => list.map((text) => JSON.parse(text) as unknown));
  return {
    runs: parsed.filter((_, index) => index % 2 === 0) as RunRecord[][],
    changes: parsed.filter((_, index) => index % 2 === 1) as StoredPathChange[][],
  };
}

async function startCoordinator(): Promise<void> {
  const child = fork(COORDINATOR, [], {
    env: {
      ...programEnv(),
      HOST: '127.0.0.1',
      PORT: '0',
      REDIS_URL: server.url,
      LOG_LEVEL: 'silent',
      TARGET_ALLOW: '192.0.2.0/24,203.0.113.0/24,127.0.0.0/8',
      WEBHOOK_SECRET: SECRET,
      MONITORS_FILE: join(folder, 'monitors.yml'),
      RESULT_RETENTION_SECONDS: '600',
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  coordinators.push(child);
  await once(child, 'message');
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function repeat(everyMs: number, run: () => Promise<void>): Promise<void> {
  while (!isEnding) {
    await run();
    await sleep(everyMs);
  }
}

async function beat(): Promise<void> {
  const heartbeat: Heartbeat = {
    v: 1,
    version: '0.1.0',
    instance: 'a',
    degraded: [],
    draining: false,
    capabilities: { types: ['tcp', 'traceroute'], ipv4: true, ipv6: false, screenshot: false },
    load: { running: 0, capacity: 1_000 },
  };
  await redis.set(redisKeys.heartbeat(PROBE), JSON.stringify(heartbeat), 'PX', HEARTBEAT_TTL_MS);
}

async function answerJobs(): Promise<void> {
  const ids = (await redis.lpop(`${redisKeys.queuePrefix(PROBE)}:${JOB_QUEUE}:wait`, 100)) ?? [];
  taken.push(...ids);
  const finishedAt = new Date().toISOString();
  const result = {
    result: 'success',
    rt: 1.5,
    resolvedIp: '192.0.2.1',
    error: null,
    startedAt: finishedAt,
    finishedAt,
    state: 'open',
    port: 80,
    attempts: [{ rt: 1.5, error: null }],
  };
  for (const id of ids) {
    const job = await redis.hget(`${redisKeys.queuePrefix(PROBE)}:${JOB_QUEUE}:${id}`, 'data');
    const isTrace = job?.includes(TRACED_TARGET) === true;
    if (isTrace) routeOf.set(id, route);
    await report(redis, PROBE, id, isTrace ? tracedResult(routes[route]!, true) : result);
  }
}
