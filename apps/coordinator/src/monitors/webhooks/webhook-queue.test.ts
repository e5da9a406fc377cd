import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { redisKeys, WEBHOOK_QUEUE, type Admit } from '@vantage/contract';
import { openFailFast } from '@vantage/redis-connections';
import {
  findRedisServer,
  freePort,
  startRedisCluster,
  startRedisServer,
  type RedisServer,
} from '@vantage/redis-server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { Webhook } from 'standardwebhooks';

import { quiet, until } from '../../../test/core-bed.ts';
import { drawId } from '../../checks/create/draw-id.ts';
import { digestOf, type WebhookMessage } from './message.ts';
import { retryAfterMs } from './open-queue.ts';
import { createSendWebhook } from './send-webhook.ts';
import { readWebhookSecret } from './signature.ts';
import { createWebhookQueue, type WebhookQueue } from './webhook-queue.ts';

const executable = findRedisServer(process.env['PATH'] ?? '')!;
const SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const QUEUE = `${redisKeys.webhookQueuePrefix}:${WEBHOOK_QUEUE}`;

/** Pins every name to loopback, as if it had been resolved to it. */
const admit: Admit = async ({ host }) => ({
  admitted: true,
  target: { host, address: '127.0.0.1', family: 4, addresses: ['127.0.0.1'], resolveMs: 0 },
});
const sendWebhook = createSendWebhook({ admit, secrets: [readWebhookSecret(SECRET)!] });

/** The clock of Redis is behind that of this machine by less than the receiver tolerates. */
const BEHIND_MS = 100_000;
const clock = { now: async (): Promise<number> => Date.now() - BEHIND_MS };

/** A request that the receiver got; its signature is valid. */
interface Received {
  readonly id: string;
  readonly host: string;
  readonly path: string;
  readonly body: unknown;
}

let receiver: Server;
let port = 0;
let received: Received[] = [];
let signedAt: number[] = [];
let answer: (request: Received, response: ServerResponse) => void;

beforeAll(async () => {
  receiver = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    request.on('end', () => {
      const body = new Webhook(SECRET).verify(text, request.headers as Record<string, string>);
      const id = request.headers['webhook-id'] as string;
      const one = { id, host: request.headers.host!.split(':')[0]!, path: request.url!, body };
      received.push(one);
      signedAt.push(Number(request.headers['webhook-timestamp']) * 1_000);
      answer(one, response);
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  ({ port } = receiver.address() as AddressInfo);
});

afterAll(() => {
  receiver.closeAllConnections();
  receiver.close();
});

const queues: WebhookQueue[] = [];
const connections: Redis[] = [];
const timers: NodeJS.Timeout[] = [];

beforeEach(() => {
  received = [];
  signedAt = [];
  answer = (_request, response) => void response.writeHead(204).end();
});

afterEach(async () => {
  for (const timer of timers.splice(0)) clearInterval(timer);
  receiver.closeAllConnections();
  await Promise.all(queues.splice(0).map((queue) => queue.close()));
  for (const redis of connections.splice(0)) redis.disconnect();
});

/** A queue as coordinators open it, polled every 50 ms. The long reply timeout tolerates a busy machine. */
function startQueue(url: string): { readonly redis: Redis; readonly queue: WebhookQueue } {
  const redis = openFailFast({ url, name: 'test', log: quiet, replyWithinMs: 60_000 });
  const queue = createWebhookQueue({ redis, clock, drawId, sendWebhook, log: quiet });
  connections.push(redis);
  queues.push(queue);
  timers.push(setInterval(() => void queue.poll().catch(() => undefined), 50));
  return { redis, queue };
}

const urlOf = (host: string): string => `http://${host}:${port}/hooks/token`;

/** Writes a monitor that names a webhook at each host. */
async function nameWebhooks(redis: Redis, monitor: string, hosts: readonly string[]): Promise<void> {
  const stored = { owner: 'api', request: { check: {}, every: '1m', webhooks: hosts.map(urlOf) } };
  await redis.hset(redisKeys.monitors, monitor, JSON.stringify(stored));
}

const messageTo = (host: string, id = 'msg_1'): WebhookMessage => ({
  monitor: 'web',
  webhook: digestOf(urlOf(host)),
  id,
  body: JSON.stringify({ type: 'monitor.bad', data: { id } }),
});

const isReady = (redis: Redis): Promise<void> => until(() => redis.status === 'ready');
const left = (redis: Redis): Promise<number> => redis.exists(`${QUEUE}:wait`, `${QUEUE}:delayed`, `${QUEUE}:active`);

describe('messages to webhooks', () => {
  let server: RedisServer;
  let folder: string;
  const start = async (at?: number): Promise<RedisServer> =>
    startRedisServer({ executable, dataFolder: folder, port: at ?? (await freePort()) });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'vantage-webhooks-'));
    server = await start();
  });
  afterEach(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  it('are sent again after a failure, with the same id and a signature of its time by the clock of Redis', async () => {
    const { redis, queue } = startQueue(server.url);
    await isReady(redis);
    await nameWebhooks(redis, 'web', ['fails.example', 'well.example']);
    answer = ({ host }, response) => {
      const isFirst = received.filter((one) => one.host === host).length === 1;
      response.writeHead(host === 'fails.example' && isFirst ? 503 : 204).end();
    };
    await queue.add([messageTo('fails.example'), messageTo('well.example')]);
    await until(async () => (await left(redis)) === 0);

    const expected = { id: 'msg_1', path: '/hooks/token', body: { type: 'monitor.bad', data: { id: 'msg_1' } } };
    expect(received.toSorted((one, other) => one.host.localeCompare(other.host))).toEqual([
      { host: 'fails.example', ...expected },
      { host: 'fails.example', ...expected },
      { host: 'well.example', ...expected },
    ]);
    expect(await redis.keys(`${QUEUE}:msg_*`)).toEqual([]);
    expect(signedAt.filter((at) => at > Date.now() - BEHIND_MS)).toEqual([]);
  });

  it('are one job however often they are added', async () => {
    const { redis, queue } = startQueue(server.url);
    const { redis: other, queue: queueOfOther } = startQueue(server.url);
    await Promise.all([isReady(redis), isReady(other)]);
    await nameWebhooks(redis, 'web', ['one.example']);
    answer = () => undefined;
    await Promise.all([queue.add([messageTo('one.example')]), queueOfOther.add([messageTo('one.example')])]);
    await until(() => received.length > 0);
    await queue.add([messageTo('one.example')]);
    // One more message: when it arrives, the ones before it have been processed.
    await queueOfOther.add([messageTo('one.example', 'msg_2')]);
    await until(() => received.some(({ id }) => id === 'msg_2'));

    expect(received.map(({ id }) => id)).toEqual(['msg_1', 'msg_2']);
  });

  it('to a receiver that does not answer hold back only each other', async () => {
    const { redis, queue } = startQueue(server.url);
    await isReady(redis);
    await nameWebhooks(redis, 'web', ['silent.example', 'well.example']);
    let [open, most] = [0, 0];
    answer = ({ host }, response) => {
      if (host === 'well.example') {
        response.writeHead(204).end();
        return;
      }
      open += 1;
      most = Math.max(most, open);
      response.on('close', () => (open -= 1));
    };
    // The messages to the silent receiver are due first.
    const silent = Array.from({ length: 200 }, (_, index) => messageTo('silent.example', `msg_s${index}`));
    const well = Array.from({ length: 800 }, (_, index) => messageTo('well.example', `msg_w${index}`));
    await queue.add([...silent, ...well]);
    // A message may come twice if the machine is so busy that its job seems abandoned.
    await until(() => new Set(received.flatMap(({ id }) => (id.startsWith('msg_w') ? [id] : []))).size === 800);

    expect(most).toBe(10);
    // The other messages to the silent receiver are postponed, which is no attempt.
    await until(async () => (await redis.llen(`${QUEUE}:wait`)) === 0);
    const sent = new Set(received.map(({ id }) => id));
    const unsent = silent.filter(({ id }) => !sent.has(id));
    const jobs = await Promise.all(unsent.map(({ id, webhook }) => redis.hgetall(`${QUEUE}:${id}.${webhook}`)));
    expect(jobs.length).toBeGreaterThan(0);
    // Fields of a BullMQ job: `ats` counts starts, `atm` attempts. A postponed job was started, and made no attempt.
    expect(jobs.filter(({ ats, atm }) => ats === undefined || atm !== undefined)).toEqual([]);
  });

  it('end with their monitor, and with the webhook that it names no more', async () => {
    const { redis, queue } = startQueue(server.url);
    await isReady(redis);
    await nameWebhooks(redis, 'web', ['kept.example']);
    await queue.add([
      messageTo('gone.example'),
      { ...messageTo('kept.example'), monitor: 'removed', id: 'msg_2' },
      messageTo('kept.example'),
    ]);
    await until(async () => (await left(redis)) === 0);

    expect(received.map(({ id, host }) => [id, host])).toEqual([['msg_1', 'kept.example']]);
    expect(await redis.exists(`${QUEUE}:failed`)).toBe(0);
  });

  it('that a receiver refuses are given up, and kept without the URL', async () => {
    const { redis, queue } = startQueue(server.url);
    await isReady(redis);
    await nameWebhooks(redis, 'web', ['refuses.example']);
    answer = (_request, response) => void response.writeHead(410).end();
    await queue.add([messageTo('refuses.example')]);
    await until(async () => (await redis.zcard(`${QUEUE}:failed`)) === 1);
    const [id] = await redis.zrange(`${QUEUE}:failed`, '0', '0');
    const job = await redis.hgetall(`${QUEUE}:${id}`);

    expect(received).toHaveLength(1);
    expect(job).toMatchObject({ failedReason: 'status 410', stacktrace: '[]' });
    expect(JSON.stringify(job)).not.toContain('token');
  });

  it('survive an outage of Redis', async () => {
    const { redis, queue } = startQueue(server.url);
    await isReady(redis);
    await nameWebhooks(redis, 'web', ['one.example', 'two.example']);
    answer = (_request, response) => void response.writeHead(500).end();
    await queue.add([messageTo('one.example')]);
    await until(async () => (await redis.zcard(`${QUEUE}:delayed`)) === 1);

    await server.stop();
    await until(() => redis.status !== 'ready');
    await expect(queue.add([messageTo('two.example')])).rejects.toThrow();
    answer = (_request, response) => void response.writeHead(204).end();
    server = await start(server.port);
    await isReady(redis);
    await queue.add([messageTo('two.example')]);
    await until(async () => (await left(redis)) === 0);

    expect(received.map(({ host }) => host).toSorted()).toEqual(['one.example', 'one.example', 'two.example']);
  });

  it('need no queue while there are none', async () => {
    const { redis, queue } = startQueue(server.url);
    await isReady(redis);
    await queue.poll();
    await queue.poll();

    expect(await redis.keys(`${QUEUE}:*`)).toEqual([]);
  });
});

it('messages to webhooks are delivered with a cluster of Redis', async () => {
  const cluster = await startRedisCluster(executable);
  try {
    const { redis, queue } = startQueue(cluster.url);
    await isReady(redis);
    await nameWebhooks(redis, 'web', ['one.example', 'two.example']);
    await queue.add([messageTo('one.example'), messageTo('two.example')]);
    await until(() => received.length === 2);
    await until(async () => (await left(redis)) === 0);

    expect(received.map(({ host }) => host).toSorted()).toEqual(['one.example', 'two.example']);
  } finally {
    await Promise.all(queues.splice(0).map((queue) => queue.close()));
    await cluster.stop();
  }
});

it.each([
  ['first', 1, 5],
  ['second', 2, 300],
  ['third', 3, 1_800],
  ['ninth', 9, 86_400],
])('after the %s failure a message waits as documented, up to a tenth longer', (_which, attempts, seconds) => {
  const waits = Array.from({ length: 1_000 }, () => retryAfterMs(attempts) / 1_000);

  expect(Math.min(...waits)).toBeGreaterThanOrEqual(seconds);
  expect(Math.max(...waits)).toBeLessThanOrEqual(seconds * 1.1);
  expect(new Set(waits).size).toBeGreaterThan(100);
});
