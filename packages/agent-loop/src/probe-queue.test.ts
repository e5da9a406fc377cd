import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { JOB_QUEUE, redisKeys } from '@vantage/contract';
import { openPatient } from '@vantage/redis-connections';
import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { Queue, Worker, type Job } from 'bullmq';
import { Redis } from 'ioredis';

import { eventually } from '../test/eventually.ts';
import { silent } from '../test/silent.ts';
import { openQueue, type ProbeQueue, type QueuedJob } from './probe-queue.ts';

let server: RedisServer;
let admin: Redis;
const opened: { readonly close: () => Promise<void> }[] = [];

beforeAll(async () => {
  const executable = findRedisServer(process.env['PATH'] ?? '');
  if (executable === undefined) throw new Error('These tests need redis-server or valkey-server.');
  server = await startRedisServer({ executable });
  admin = new Redis(server.url, { maxRetriesPerRequest: null });
});

afterAll(async () => {
  for (const one of opened.toReversed()) await one.close();
  admin.disconnect();
  await server.stop();
});

function queueOf(probe: string): Queue {
  const queue = new Queue(JOB_QUEUE, {
    connection: admin,
    prefix: redisKeys.queuePrefix(probe),
    skipVersionCheck: true,
    skipMetasUpdate: true,
  });
  opened.push(queue);
  return queue;
}

function connected(): Redis {
  const redis = new Redis(server.url, { maxRetriesPerRequest: null });
  opened.push({ close: async () => redis.disconnect() });
  return redis;
}

/** The connections of an agent, ready: a take waits for only a few milliseconds. */
async function connectionsOf(): Promise<Record<'redis' | 'blocking' | 'writing', Redis>> {
  const connect = (name: string, resend: boolean): Redis =>
    openPatient({ url: server.url, keyInUse: 'in-use', name, resend, log: silent });
  const connections = {
    redis: connect('jobs', true),
    blocking: connect('wait', false),
    writing: connect('results', false),
  };
  const all = Object.values(connections);
  opened.push({ close: async () => all.forEach((each) => each.disconnect()) });
  for (const each of all) if (each.status !== 'ready') await once(each, 'ready');
  return connections;
}

async function consumerOf(probe: string, { withoutWriting = false } = {}): Promise<ProbeQueue> {
  const connections = await connectionsOf();
  // ioredis notices the end later, so the next command is still sent on this connection.
  if (withoutWriting) connections.writing.stream.destroy();
  return openQueue({ probeId: probe, ...connections });
}

const jobs = [
  { id: 'first', name: 'tcp', data: { v: 1, params: { host: 'example.com', text: 'ü "quoted" \u0000' } } },
  { id: 'second', name: 'dns', data: { v: 1, list: [1, 2, { three: null }] } },
  { id: 'third', name: 'ping', data: {} },
];

/** Takes the next job and reads it; undefined if there is none. */
async function take(consumer: ProbeQueue): Promise<QueuedJob | undefined> {
  const id = await consumer.next(0.01);
  return typeof id === 'string' ? consumer.read(id) : undefined;
}

async function add(queue: Queue): Promise<void> {
  for (const { id, name, data } of jobs) await queue.add(name, data, { jobId: id, attempts: 1, timestamp: 1_700_000 });
}

/**
 * All keys of a probe's queue, lists and hashes with their contents and others with their type, except BullMQ's event
 * log and its marker for waiting jobs.
 */
async function stateOf(probe: string): Promise<Readonly<Record<string, unknown>>> {
  const prefix = `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:`;
  const names = (await admin.keys(`${prefix.replaceAll(/[{}]/g, '?')}*`)).toSorted();
  const entries = names.map(async (key): Promise<readonly [string, unknown]> => {
    const type = await admin.type(key);
    const value = type === 'list' ? await admin.lrange(key, 0, -1) : type === 'hash' ? await admin.hgetall(key) : type;
    return [key.slice(prefix.length), value];
  });
  const state = Object.fromEntries(await Promise.all(entries));
  const { events: _events, marker: _marker, ...rest } = state;
  return rest;
}

describe('a queue that is consumed by plain commands', () => {
  it('gives the jobs that BullMQ’s own worker gives, in its order', async () => {
    const seen: object[] = [];
    await add(queueOf('bullmq'));
    const worker = new Worker(
      JOB_QUEUE,
      async ({ id, name, data, timestamp }: Job) => void seen.push({ id, name, data: data as unknown, timestamp }),
      {
        connection: connected(),
        removeOnComplete: { count: 0 },
        prefix: redisKeys.queuePrefix('bullmq'),
      },
    );
    opened.push(worker);
    await eventually(() => (seen.length === jobs.length ? true : undefined));
    await add(queueOf('plain'));
    const consumer = await consumerOf('plain');

    const taken = [await take(consumer), await take(consumer), await take(consumer), await take(consumer)];

    expect(taken).toEqual([...seen, undefined]);
  });

  it('reads a job that was taken just before the connection of the takes was lost', async () => {
    await add(queueOf('torn'));
    const connections = await connectionsOf();
    const consumer = openQueue({ probeId: 'torn', ...connections });

    const id = await consumer.next(1);
    connections.blocking.stream.destroy();

    expect(await consumer.read(id!)).toMatchObject({ id: 'first', name: 'tcp' });
  });

  it('adds no listener to a connection that is not ready for each take that waits for it', async () => {
    const { redis, writing } = await connectionsOf();
    const nowhere = new Redis({ port: 1, lazyConnect: true });
    const consumer = openQueue({ probeId: 'away', redis, writing, blocking: nowhere });
    const before = nowhere.listenerCount('ready');

    const takes = Array.from({ length: 16 }, () => consumer.next(10));
    const during = nowhere.listenerCount('ready');
    consumer.stopWaiting();

    expect(during - before).toBe(1);
    expect(await Promise.all(takes)).toEqual(takes.map(() => undefined));
  });

  it('leaves what BullMQ’s own worker leaves, while jobs are active and after them', async () => {
    for (const probe of ['bullmq-2', 'plain-2']) await add(queueOf(probe));
    const token = 'token';
    const worker = new Worker(JOB_QUEUE, null, {
      connection: connected(),
      autorun: false,
      prefix: redisKeys.queuePrefix('bullmq-2'),
      removeOnComplete: { count: 0 },
      skipVersionCheck: true,
      skipStalledCheck: true,
    });
    opened.push(worker);
    const consumer = await consumerOf('plain-2');
    const [theirs, ours] = [await worker.getNextJob(token, { block: false }), await take(consumer)];

    const lists = ({ wait, active }: Readonly<Record<string, unknown>>): object => ({ wait, active });
    expect(lists(await stateOf('plain-2'))).toEqual(lists(await stateOf('bullmq-2')));

    await theirs?.moveToCompleted(undefined, token, false);
    await consumer.finish([ours!]);
    expect(await stateOf('plain-2')).toEqual(await stateOf('bullmq-2'));
    expect(await queueOf('plain-2').getJobCounts()).toEqual(await queueOf('bullmq-2').getJobCounts());
  });

  it('takes jobs that are done out together, and leaves the others', async () => {
    await add(queueOf('together'));
    const consumer = await consumerOf('together');
    const [first, second, third] = [await take(consumer), await take(consumer), await take(consumer)];

    await consumer.finish([first!, third!]);

    expect(await consumer.active()).toEqual([second?.id]);
    await consumer.finish([second!]);
    expect(Object.keys(await stateOf('together'))).toEqual(['id', 'meta']);
  });

  it('takes out jobs that are done though the connection for results is lost', async () => {
    await add(queueOf('lost'));
    const consumer = await consumerOf('lost', { withoutWriting: true });
    const first = await take(consumer);

    await consumer.finish([first!]);

    expect(await consumer.active()).toEqual([]);
    expect(Object.keys(await stateOf('lost'))).not.toContain('first');
  });

  it('waits for jobs that come later, and gives each to one of several questions in order', async () => {
    const queue = queueOf('later');
    const consumer = await consumerOf('later');
    const asked = [1, 2, 3, 4].map(async () => consumer.next(1));
    await eventually(async () => (String(await admin.client('LIST')).includes('cmd=blmove') ? true : undefined));

    await add(queue);

    expect(await Promise.all(asked)).toEqual(['first', 'second', 'third', null]);
  });

  it('passes over a job that was removed in the same moment', async () => {
    const consumer = await consumerOf('gone');
    await add(queueOf('gone'));
    await admin.del(`${redisKeys.queuePrefix('gone')}:${JOB_QUEUE}:first`);

    expect(await take(consumer)).toBeUndefined();
    expect(await consumer.active()).toEqual([]);
    expect(await take(consumer)).toMatchObject({ id: 'second' });
  });

  it('ends a wait under way when waiting is stopped, and starts no other', async () => {
    const consumer = await consumerOf('stopped');
    const waited = [consumer.next(3), consumer.next(3)];
    await sleep(50);

    consumer.stopWaiting();

    expect(await Promise.all(waited)).toEqual([undefined, undefined]);
    expect(await consumer.next(3)).toBeUndefined();
  });
});
