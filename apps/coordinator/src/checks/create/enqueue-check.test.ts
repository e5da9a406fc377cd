import { JOB_QUEUE, noScreenshot, redisKeys, screenshotJobId, type Job } from '@vantage/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openFailFast } from '@vantage/redis-connections';
import { findRedisServer, startRedisCluster, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { Redis } from 'ioredis';

import { quiet, until } from '../../../test/core-bed.ts';
import { readCheck } from '../store/records/check-records.ts';
import type { NewCheck } from '../store/records/new-check.ts';
import { createJobQueues } from '../store/job-queues.ts';
import {
  createStartCheck,
  NotGranted,
  startApart,
  type NewJob,
  type StartCheck,
  type Started,
} from './enqueue-check.ts';

const RETENTION_MS = 60_000;
const ID = 'A'.repeat(22);
const CREATED_AT = 1_700_000_000_000;

const job: Job = { v: 1, checkId: ID, type: 'ping', params: { host: 'é.example' }, deadlineAt: CREATED_AT + 9_000 };
const jobsFor = (...probes: readonly string[]): readonly NewJob[] => probes.map((probe) => ({ probe, id: ID, job }));
const checkOn = (...probes: readonly string[]): NewCheck => ({
  id: ID,
  type: 'ping',
  host: 'É.example',
  createdAt: CREATED_AT,
  deadlineAt: CREATED_AT + 9_000,
  probes,
});

const executable = findRedisServer(process.env['PATH'] ?? '')!;
let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  server = await startRedisServer({ executable });
  redis = new Redis(server.url);
});

beforeEach(async () => {
  await redis.flushall();
});

afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

describe.each([
  ['in one script', (): StartCheck => createStartCheck(redis, noQueues, RETENTION_MS)],
  ['command by command', (): StartCheck => startApart(redis, createJobQueues(redis, quiet), RETENTION_MS)],
])('a check that is started %s', (_how, startOf) => {
  it('is there with its deadline and all results pending, for as long as it lasts and is kept', async () => {
    await startOf()(checkOn('fra-1', 'nyc-1'), []);

    expect(await readCheck(redis, ID)).toMatchObject({
      type: 'ping',
      host: 'É.example',
      createdAt: CREATED_AT,
      deadlineAt: CREATED_AT + 9_000,
      probes: ['fra-1', 'nyc-1'],
      completedAt: null,
      screenshot: noScreenshot,
    });
    expect(await redis.hgetall(redisKeys.checkResults(ID))).toEqual({ 'fra-1': '', 'nyc-1': '' });
    expect(await redis.hmget(redisKeys.check(ID), 'v', 'pending')).toEqual(['0', '2']);
    expect(await redis.zscore(redisKeys.deadlines, ID)).toBe(`${CREATED_AT + 9_000}`);
    for (const key of [redisKeys.check(ID), redisKeys.checkResults(ID)]) {
      expect(await redis.pttl(key)).toBeGreaterThan(RETENTION_MS);
      expect(await redis.pttl(key)).toBeLessThanOrEqual(RETENTION_MS + 9_000);
    }
    expect(await redis.exists(redisKeys.screenshots)).toBe(0);
  });

  it('keeps the target as the caller wrote it, as far as that is text', async () => {
    const host = 'http://é.example/“\\”\u0001?\ud800';

    await startOf()({ ...checkOn('fra-1'), host }, [{ probe: 'fra-1', id: ID, job: { ...job, params: { host } } }]);

    expect((await readCheck(redis, ID))!.host).toBe('http://é.example/“\\”\u0001?\ufffd');
    const data = await redis.hget(queueKey('fra-1', ID), 'data');
    expect((JSON.parse(data!) as Job).params).toEqual({ host });
  });

  it('has its screenshot watched, and the job for it in the queue behind the others', async () => {
    const params = { url: 'http://a.example/', insecureSSL: false };
    const screenshot = { state: 'pending', probe: 'nyc-1', params } as const;
    const picture: Job = { ...job, type: 'screenshot', params };

    await startOf()({ ...checkOn('nyc-1'), screenshot }, [
      ...jobsFor('nyc-1'),
      { probe: 'nyc-1', id: screenshotJobId(ID), job: picture },
    ]);

    expect((await readCheck(redis, ID))!.screenshot).toEqual({ state: 'pending', probe: 'nyc-1', reason: null });
    expect(await redis.hmget(redisKeys.check(ID), 'pending', 'shotParams')).toEqual(['2', JSON.stringify(params)]);
    expect(await redis.zrange(redisKeys.screenshots, '0', '-1')).toEqual([`${ID} nyc-1`]);
    // BullMQ takes jobs from the right end, so the probe gets the job of the check before the screenshot.
    expect(await redis.lrange(queueKey('nyc-1', 'wait'), 0, -1)).toEqual([screenshotJobId(ID), ID]);
    const [own, other] = await Promise.all(
      [screenshotJobId(ID), ID].map((id) => redis.hget(queueKey('nyc-1', id), 'data')),
    );
    expect([own, other].map((data) => JSON.parse(data!) as Job)).toEqual([picture, job]);
  });

  it('reaches the other probes where the agent of one has broken its list of waiting jobs', async () => {
    await redis.sadd(queueKey('bad-1', 'wait'), 'broken');

    const { jobs: outcomes } = await startOf()(checkOn('fra-1', 'bad-1', 'nyc-1'), jobsFor('fra-1', 'bad-1', 'nyc-1'));

    expectBroken(outcomes);
    expect(await waitingAt('fra-1', 'nyc-1')).toEqual([[ID], [ID]]);
  });

  it('has no jobs where its record is refused', async () => {
    await redis.set(redisKeys.check(ID), 'no hash');

    await expect(startOf()(checkOn('fra-1'), jobsFor('fra-1'))).rejects.toThrow('WRONGTYPE');

    expect(await redis.keys('p:*')).toEqual([]);
  });
});

const others = ['meta', 'events', 'id', 'marker'];

describe('a key of BullMQ that agents do without and one has broken', () => {
  it.each(others)('does not end its jobs that are added in one script: “%s”', async (part) => {
    await redis.lpush(queueKey('bad-1', part), 'broken');

    const start = createStartCheck(redis, noQueues, RETENTION_MS);
    const { jobs: outcomes } = await start(checkOn('fra-1', 'bad-1'), jobsFor('fra-1', 'bad-1'));

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(await waitingAt('fra-1', 'bad-1')).toEqual([[ID], [ID]]);
  });

  it.each(others)('does not end jobs of other probes that are added command by command: “%s”', async (part) => {
    await redis.lpush(queueKey('bad-1', part), 'broken');

    const start = startApart(redis, createJobQueues(redis, quiet), RETENTION_MS);
    const { jobs: outcomes } = await start(checkOn('fra-1', 'bad-1', 'nyc-1'), jobsFor('fra-1', 'bad-1', 'nyc-1'));

    expectBroken(outcomes);
    expect(await waitingAt('fra-1', 'nyc-1')).toEqual([[ID], [ID]]);
  });
});

describe('the jobs of a check that is started in one script', () => {
  it('are what BullMQ itself adds, key by key, but for its events, counter and settings', async () => {
    const queues = createJobQueues(redis, quiet);
    await createStartCheck(redis, noQueues, RETENTION_MS)(checkOn('fra-1'), jobsFor('fra-1'));
    await queues.add('nyc-1', job);

    const [ours, theirs] = await Promise.all(['fra-1', 'nyc-1'].map(dump));

    expect(Object.keys(ours!).toSorted()).toEqual([ID, 'marker', 'wait']);
    const { events: _events, id: _id, meta: _meta, ...compared } = theirs!;
    expect(ours).toEqual(compared);
    expect(await redis.hget(queueKey('fra-1', ID), 'timestamp')).toBe(`${CREATED_AT}`);
    await queues.close();
  });

  it('leave nothing on the connection of a probe that was removed', async () => {
    const connection = new Redis(server.url);
    const queues = createJobQueues(connection, quiet);
    const count = (): number =>
      connection.eventNames().reduce((sum, event) => sum + connection.listenerCount(event), 0);
    const before = count();
    for (const probe of ['fra-1', 'nyc-1']) await queues.add(probe, job);
    expect(count()).toBeGreaterThan(before);

    for (const probe of ['fra-1', 'nyc-1', 'par-1']) queues.forget(probe);

    await until(() => count() === before);
    // Others use the connection, and the probe may be registered again.
    await queues.add('fra-1', { ...job, checkId: 'B'.repeat(22) });
    expect(await redis.llen(queueKey('fra-1', 'wait'))).toBe(2);
    await queues.close();
    connection.disconnect();
  });

  it('leave one that is there already as it is', async () => {
    const start = createStartCheck(redis, noQueues, RETENTION_MS);
    await start(checkOn('fra-1'), jobsFor('fra-1'));
    const before = await dump('fra-1');

    await start(checkOn('fra-1'), [{ probe: 'fra-1', id: ID, job: { ...job, type: 'dns' } }]);

    expect(await dump('fra-1')).toEqual(before);
  });

  it('leave nothing where the list of waiting jobs is broken', async () => {
    await redis.sadd(queueKey('bad-1', 'wait'), 'broken');

    await createStartCheck(redis, noQueues, RETENTION_MS)(checkOn('bad-1'), jobsFor('bad-1'));

    expect(await redis.keys(queueKey('bad-1', '*'))).toEqual([queueKey('bad-1', 'wait')]);
  });
});

describe('a check that depends on a grant', () => {
  const grant = redisKeys.checkGrant(ID);
  const start = (): ReturnType<StartCheck> =>
    createStartCheck(redis, noQueues, RETENTION_MS)({ ...checkOn('fra-1'), grant }, jobsFor('fra-1'));

  it('is started once by it', async () => {
    await redis.set(grant, '');

    await start();
    const again = start();

    await expect(again).rejects.toBeInstanceOf(NotGranted);
    expect(await redis.lrange(queueKey('fra-1', 'wait'), 0, -1)).toEqual([ID]);
    expect(await redis.exists(grant)).toBe(0);
  });

  it('leaves nothing without it', async () => {
    await expect(start()).rejects.toBeInstanceOf(NotGranted);

    expect(await redis.keys('*')).toEqual([]);
  });
});

describe('the notification of gateways', () => {
  it.each([
    ['names the probes that may be at one', ['nyc-1'], ['nyc-1']],
    ['names all if that is not known', undefined, ['fra-1 nyc-1']],
    ['is not sent for agents that take their jobs from Redis', [], []],
  ])('%s', async (_reason, atGateways, expected) => {
    const subscriber = redis.duplicate();
    const messages: string[] = [];
    subscriber.on('message', (_channel: string, message: string) => messages.push(message));
    await subscriber.subscribe(redisKeys.jobsAdded);

    const check = { ...checkOn('fra-1', 'nyc-1'), atGateways };
    await createStartCheck(redis, noQueues, RETENTION_MS)(check, jobsFor('fra-1', 'nyc-1'));
    await redis.publish(redisKeys.jobsAdded, 'end');
    await until(async () => messages.includes('end'));

    expect(messages).toEqual([...expected, 'end']);
    subscriber.disconnect();
  });
});

it('is started command by command on a cluster, where one script cannot reach all of it', async () => {
  const cluster = await startRedisCluster(executable);
  const connection = openFailFast({ url: cluster.url, name: 'test', log: quiet });
  await until(async () => connection.status === 'ready');
  const queues = createJobQueues(connection, quiet);
  const probes = Array.from({ length: 6 }, (_, index) => `probe-${index}`);

  const start = createStartCheck(connection, queues, RETENTION_MS);
  const { jobs: outcomes } = await start(checkOn(...probes), jobsFor(...probes));

  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['fulfilled']));
  expect((await readCheck(connection, ID))!.probes).toEqual(probes);
  const waiting = await Promise.all(probes.map((probe) => connection.lrange(queueKey(probe, 'wait'), 0, -1)));
  expect(waiting).toEqual(probes.map(() => [ID]));
  await queues.close();
  connection.disconnect();
  await cluster.stop();
});

const noQueues = {
  add: async (): Promise<never> => {
    throw new Error('No job is added separately.');
  },
};

/** Expects that only the second of three jobs was refused. */
function expectBroken(outcomes: Started['jobs']): void {
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  const { reason } = outcomes[1] as PromiseRejectedResult;
  expect(reason).toMatchObject({ name: 'ReplyError', message: expect.stringContaining('WRONGTYPE') });
}

function waitingAt(...probes: readonly string[]): Promise<readonly (readonly string[])[]> {
  return Promise.all(probes.map((probe) => redis.lrange(queueKey(probe, 'wait'), 0, -1)));
}

function queueKey(probe: string, part: string): string {
  return `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:${part}`;
}

/** All keys of a probe's queue, without values that differ between two additions. */
async function dump(probe: string): Promise<Readonly<Record<string, unknown>>> {
  const prefix = queueKey(probe, '');
  const keys = (await redis.keys(`${prefix}*`)).toSorted();
  const read = async (key: string): Promise<unknown> => {
    switch (await redis.type(key)) {
      case 'hash': {
        const { timestamp, opts = 'null', ...fields } = await redis.hgetall(key);
        return {
          ...fields,
          opts: JSON.parse(opts) as unknown,
          timestamp: typeof timestamp,
        };
      }
      case 'list':
        return redis.lrange(key, 0, -1);
      case 'zset':
        return redis.zrange(key, '0', '-1', 'WITHSCORES');
      case 'stream':
        return (await redis.xrange(key, '-', '+')).map(([, fields]) => fields);
      default:
        return redis.get(key);
    }
  };
  return Object.fromEntries(await Promise.all(keys.map(async (key) => [key.slice(prefix.length), await read(key)])));
}
