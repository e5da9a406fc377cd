import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

import { jobSchema, JOB_QUEUE, redisKeys, type AnyCheckType, type Job } from '@vantage/contract';
import { noTracing } from '@vantage/telemetry';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';

import { echo } from '../../../test/echo-type.ts';
import { PATIENT_MS, quiet, startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { passDeadline, report, success } from '../../../test/check-steps.ts';
import { NO_ACCESS } from '../../probes/enrolment/agent-access.ts';
import { createProbeDirectory } from '../../probes/registry/probe-directory.ts';
import type { KnownProbe } from '../../probes/registry/probe-status.ts';
import { createProbeValidators } from '../../probes/registry/probe-validators.ts';
import { createRedisClock } from '../../redis/clock.ts';
import type { Checks } from '../checks.ts';
import { createCheckTypes } from '../store/check-type-cache.ts';
import { createCounters } from '../store/counters.ts';
import type { NewScreenshot } from '../store/records/new-check.ts';
import { dispatchFailure } from '../store/synthetic-results.ts';
import { createChecks, type CreateCheckDependencies } from './create-check.ts';
import { deriveId, drawId } from './draw-id.ts';
import { createDeadlines } from '../store/deadlines.ts';
import { createProbeCapacity } from './probe-capacity.ts';
import { createJobQueues, type JobQueues } from '../store/job-queues.ts';
import { createStartCheck, startApart, type StartCheck } from './enqueue-check.ts';

let bed: CoreBed;

const queueKey = (probe: string, part: string): string => `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:${part}`;

beforeAll(async () => {
  bed = await startCoreBed();
  for (const probe of ['fra-1', 'nyc-1', 'off-1']) await bed.addProbe(probe);
});

beforeEach(async () => {
  for (const probe of ['fra-1', 'nyc-1']) await bed.beat(probe);
  await until(async () => (await bed.core.ready()).healthyProbes === 2);
});

afterAll(async () => bed.stop());

const takesWrites = { refusal: () => undefined, requireWrites: () => undefined };

describe('the id of a check', () => {
  it('does not begin with a hyphen, which programs would take for a flag', () => {
    const ids = Array.from({ length: 5_000 }, drawId);

    expect(ids.filter((id) => !/^[\w][\w-]{21}$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('may be derived from a text', () => {
    const ids = Array.from({ length: 500 }, (_, index) => deriveId(`text ${index}`));

    expect(ids.filter((id) => !/^[\w][\w-]{21}$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(deriveId('text 7')).toBe(ids[7]);
  });
});

describe('the creation of a check', () => {
  it('gives each probe its job, which says nothing of the caller', async () => {
    const creation = await bed.create({ probes: ['nyc-1', 'fra-1'], budget: 7_000 });
    const id = creation.created ? creation.checkId : '';

    expect(creation).toEqual({
      created: true,
      checkId: expect.stringMatching(/^[\w-]{22}$/),
      probes: ['nyc-1', 'fra-1'],
      withoutJob: 0,
    });
    const createdAt = Number(await bed.redis.hget(redisKeys.check(id), 'createdAt'));
    expect(Math.abs(createdAt - Date.now())).toBeLessThan(60_000);
    for (const probe of ['nyc-1', 'fra-1']) {
      expect(await bed.redis.lrange(queueKey(probe, 'wait'), 0, -1)).toContain(id);
      const job = JSON.parse((await bed.redis.hget(queueKey(probe, id), 'data'))!) as Job;
      expect(new Ajv2020().validate(jobSchema, job)).toBe(true);
      expect(Object.keys(job).toSorted()).toEqual(['checkId', 'deadlineAt', 'params', 'type', 'v']);
      expect(job).toMatchObject({ v: 1, checkId: id, type: 'echo', params: { host: 'target.example' } });
      expect(job.deadlineAt).toBe(createdAt + 7_000);
    }
    expect(Object.entries((await bed.read(id)).results)).toEqual([
      ['nyc-1', { result: 'pending' }],
      ['fra-1', { result: 'pending' }],
    ]);
  });

  it('gives each of two probes the address of the other, and tells readers which two they are', async () => {
    const id = await bed.start({
      submittedHost: 'fra-1 ↔ nyc-1',
      between: ['fra-1', 'nyc-1'],
      probes: ['fra-1', 'nyc-1'],
      hosts: new Map([
        ['fra-1', '198.51.100.9'],
        ['nyc-1', '203.0.113.5'],
      ]),
    });

    const jobs = await Promise.all(
      ['fra-1', 'nyc-1'].map(async (probe) => JSON.parse((await bed.redis.hget(queueKey(probe, id), 'data'))!) as Job),
    );
    expect(jobs.map(({ params }) => params)).toMatchObject([{ host: '198.51.100.9' }, { host: '203.0.113.5' }]);
    expect(await bed.read(id)).toMatchObject({ host: 'fra-1 ↔ nyc-1', between: ['fra-1', 'nyc-1'] });
    const live = await bed.core.live.follow(id, () => undefined);
    await report(bed.redis, 'fra-1', id, success('there'));
    await report(bed.redis, 'nyc-1', id, success('back'));
    await until(() => live!.completion() !== undefined);
    expect(live!.completion()!.check).toMatchObject({ between: ['fra-1', 'nyc-1'] });
    live!.close();
  });

  it('tells readers and followers what was asked, and nothing of a check that an earlier release stored', async () => {
    const id = await bed.start({ probes: ['fra-1'] });
    const request = { options: { budget: 120_000 } };
    expect(await bed.read(id)).toMatchObject({ request });
    const live = await bed.core.live.follow(id, () => undefined);
    await report(bed.redis, 'fra-1', id, success('there'));
    await until(() => live!.completion() !== undefined);
    expect(live!.completion()!.check).toMatchObject({ request });
    live!.close();

    await bed.redis.hdel(redisKeys.check(id), 'request');
    expect(await bed.read(id)).not.toHaveProperty('request');
  });

  it('tells readers and followers which of its locations have no probe', async () => {
    const asked = { locations: ['JP', 'DE', 'Perú'], unknownLocations: ['rack-7'] };
    const emptyLocations = ['rack-7', 'JP', 'Perú'];
    const creation = await bed.create(asked);
    expect(creation).toMatchObject({ created: true, emptyLocations });
    const { checkId: id } = creation as { readonly checkId: string };
    expect(await bed.read(id)).toMatchObject({ emptyLocations });
    const live = await bed.core.live.follow(id, () => undefined);
    for (const probe of Object.keys((await bed.read(id)).results)) await report(bed.redis, probe, id, success('there'));
    await until(() => live!.completion() !== undefined);
    expect(live!.completion()!.check).toMatchObject({ emptyLocations });
    live!.close();

    expect(await bed.read(await bed.start({ locations: ['DE'] }))).not.toHaveProperty('emptyLocations');
  });

  it('reaches an agent that is a BullMQ worker, and leaves nothing of the job behind', async () => {
    const agent = new Redis(bed.server.url, { maxRetriesPerRequest: null });
    const worker = new Worker(
      JOB_QUEUE,
      async (job) => {
        await report(agent, 'fra-1', job.id!, success(`${job.name} ${(job.data as Job).checkId === job.id}`));
      },
      { connection: agent, prefix: redisKeys.queuePrefix('fra-1') },
    );
    const id = await bed.start({ probes: ['fra-1'] });
    const check = await bed.read(id, PATIENT_MS);

    expect(check.status).toBe('completed');
    expect(check.results['fra-1']).toMatchObject({ result: 'success', said: 'echo true' });
    await until(async () => (await bed.redis.exists(queueKey('fra-1', id))) === 0);
    await worker.close();
    agent.disconnect();
  });

  it('refuses probes that do not exist, by name and place', async () => {
    const creation = await bed.create({ probes: ['fra-1', 'mars-1', 'constructor', '__proto__'] });

    expect(creation).toMatchObject({
      created: false,
      reason: 'invalid',
      errors: [
        { path: '/probes/1', message: expect.stringContaining('mars-1') },
        { path: '/probes/2', message: expect.stringContaining('constructor') },
        { path: '/probes/3', message: expect.stringContaining('__proto__') },
      ],
    });
  });

  it('ends the share of a probe that is offline at once', async () => {
    const id = await bed.start({ probes: ['off-1', 'fra-1'] });
    const check = await bed.read(id);

    expect(check.status).toBe('pending');
    expect(check.results['off-1']).toMatchObject({
      result: 'error',
      error: {
        code: 'probe_offline',
        phase: 'dispatch',
        source: 'probe',
        message: expect.stringContaining('Never seen'),
      },
    });
    expect(check.results['fra-1']).toEqual({ result: 'pending' });
    expect(await bed.redis.exists(queueKey('off-1', 'wait'))).toBe(0);
  });

  it('ends the share of a probe that got no job at the deadline if its coordinator dies after the start', async () => {
    const started = Promise.withResolvers<string>();
    const startOf: StartOf = (redis, queues) => async (check, jobs) => {
      await startTogether(redis, queues)(check, jobs);
      started.resolve(check.id);
      return new Promise(() => undefined);
    };
    const capacity = createProbeCapacity({ listen: () => () => undefined, longestWaitMs: 60_000 });
    const load = { ...capacity, hasCapacity: ({ record }: KnownProbe) => record.id !== 'nyc-1' };
    const creation = creatorWith(startOf, { load })({ ...request, probes: ['off-1', 'nyc-1', 'fra-1'] });
    const id = await Promise.race([started.promise, creation.then(() => Promise.reject(new Error('It did not die.')))]);
    await passDeadline(bed.redis, id);

    const { status, results } = await bed.read(id, PATIENT_MS);

    expect(status).toBe('completed');
    expect(results).toMatchObject({
      'off-1': { result: 'error', error: { code: 'probe_offline', message: expect.stringContaining('Never seen') } },
      'nyc-1': { result: 'error', error: { code: 'probe_busy' } },
      'fra-1': { result: 'timeout', error: { code: 'probe_timeout' } },
    });
    expect(await bed.redis.hexists(redisKeys.check(id), 'absent')).toBe(0);
  });

  it('completes a check of nothing but offline probes', async () => {
    const creation = await bed.create({ probes: ['off-1'] });
    const check = await bed.read(creation.created ? creation.checkId : '');

    expect(creation).toMatchObject({ probes: ['off-1'], withoutJob: 1 });

    expect(check.status).toBe('completed');
    expect(Date.parse(check.completedAt!)).toBeGreaterThanOrEqual(Date.parse(check.createdAt));
  });

  it('gives no job to a probe that is shutting down', async () => {
    await bed.beat('nyc-1', { draining: true });
    await until(async () => (await bed.core.ready()).healthyProbes === 1);

    const check = await bed.read(await bed.start({ probes: ['nyc-1'] }));
    const chosen = await bed.create();

    expect(check.results['nyc-1']).toMatchObject({ error: { code: 'probe_offline' } });
    expect(chosen).toMatchObject({ created: true, probes: ['fra-1'] });
  });

  it('ends the share of a probe whose agent broke its queue, and of no other', async () => {
    await bed.redis.del(queueKey('nyc-1', 'wait'));
    await bed.redis.set(queueKey('nyc-1', 'wait'), 'no list');

    const check = await bed.read(await bed.start({ probes: ['nyc-1', 'fra-1'] }));

    expect(check.results['nyc-1']).toMatchObject({
      result: 'error',
      error: { code: 'internal_error', phase: 'dispatch' },
    });
    expect(check.results['fra-1']).toEqual({ result: 'pending' });
    await bed.redis.del(queueKey('nyc-1', 'wait'));
  });

  it('says why no probe can take it', async () => {
    expect(await bed.create({ locations: ['JP'] })).toEqual({
      created: false,
      reason: 'no-probe',
      detail: expect.stringMatching(/^There is no probe at "JP"\. Probes are online in [A-Z]{2}/),
    });
  });

  it('promises nothing and leaves nothing when Redis has no memory left', async () => {
    const keysBefore = await allKeys();
    await bed.redis.config('SET', 'maxmemory', '1');

    await expect(bed.create({ probes: ['fra-1'] })).rejects.toMatchObject({ name: 'WritesRefused' });

    await bed.takeWrites();
    await untilKeysAre(keysBefore);
  });

  it('takes the jobs back that went out behind a deadline which Redis refused', async () => {
    const keysBefore = await allKeys();
    await bed.redis.rename(redisKeys.deadlines, 'kept');
    await bed.redis.set(redisKeys.deadlines, 'no sorted set');

    await expect(bed.create({ probes: ['fra-1', 'nyc-1'] })).rejects.toMatchObject({ name: 'StoreUnavailable' });

    await bed.redis.rename('kept', redisKeys.deadlines);
    await untilKeysAre(keysBefore);
  });

  it('has its record before an agent can see its job, though Redis has forgotten every script', async () => {
    const seen: string[] = [];
    const monitor = await watchCommands(bed.server.url, (line) => {
      const [, family] = /lua\] "(?:hset|lpush|rpush)" "(check|p):/i.exec(line) ?? [];
      if (family !== undefined) seen.push(family);
    });
    await bed.redis.script('FLUSH');

    await bed.start({ probes: ['fra-1', 'nyc-1'] });
    await until(() => seen.filter((family) => family === 'p').length >= 2);

    expect(seen.lastIndexOf('check')).toBeLessThan(seen.indexOf('p'));
    monitor.destroy();
  });

  it.each([
    [
      'one queue cannot be reached after the record was written',
      (redis: Redis, queues: JobQueues): StartCheck =>
        startApart(
          redis,
          {
            add: async (probe, job, id) => {
              if (probe === 'nyc-1') throw new Error('Command timed out');
              await queues.add(probe, job, id);
            },
          },
          60_000,
        ),
    ],
    [
      'the reply to the last write is lost',
      (redis: Redis, queues: JobQueues): StartCheck =>
        async (...given) => {
          await createStartCheck(redis, queues, 60_000)(...given);
          throw new Error('Command timed out');
        },
    ],
  ])('takes everything back when %s', async (_reason, startOf) => {
    const keysBefore = await allKeys();
    const create = creatorWith(startOf);

    await expect(create({ ...request, probes: ['fra-1', 'nyc-1'] })).rejects.toMatchObject({
      name: 'StoreUnavailable',
    });

    await untilKeysAre(keysBefore);
  });

  it('has its times by the clock of Redis after a step back that no look noticed', async () => {
    const clock = createRedisClock();
    clock.observe(Date.now() + 3_600_000, performance.now());

    const creation = await creatorWith(startTogether, { clock })({ ...request, probes: ['fra-1'] });

    const id = creation.created ? creation.checkId : '';
    const [seconds] = await bed.redis.time();
    const { createdAt } = await bed.redis.hgetall(redisKeys.check(id));
    const deadlineAt = Number(await bed.redis.zscore(redisKeys.deadlines, id));
    expect(Math.abs(Number(createdAt) - Number(seconds) * 1_000)).toBeLessThan(60_000);
    expect(deadlineAt - Number(createdAt)).toBe(5_000);
    const { deadlineAt: ofJob } = JSON.parse((await bed.redis.hget(queueKey('fra-1', id), 'data'))!) as Job;
    expect(ofJob).toBe(deadlineAt);
  });

  it.each([
    ['is started before the reply to its count', true, true],
    ['leaves nothing if Redis refuses it', false, false],
    ['is started without a grant if it was counted in memory', false, true],
  ])('%s', async (_what, isGranted, admits) => {
    const keysBefore = await allKeys();
    const selected = await creationWith(startTogether).select({ ...request, probes: ['fra-1'] });
    if (selected.created === false) throw new Error(selected.reason);
    const { checkId: id, grant } = selected;
    if (isGranted) await bed.redis.set(grant!, '');
    const { promise: isAdmitted, resolve: answer } = Promise.withResolvers<boolean>();

    const starting = selected.start({ admission: { isLikely: Promise.resolve(true), isAdmitted } });
    let startedEarly = 0;
    if (isGranted) await until(async () => (startedEarly = await bed.redis.exists(redisKeys.check(id))) === 1);
    answer(admits);
    const started = await starting;

    expect(startedEarly).toBe(isGranted ? 1 : 0);
    expect(started?.checkId).toBe(admits ? id : undefined);
    expect(await bed.redis.exists(redisKeys.check(id))).toBe(admits ? 1 : 0);
    if (!admits) await untilKeysAre(keysBefore);
  });

  it('is refused, and leaves nothing, if the time cannot be read', async () => {
    const keysBefore = await allKeys();
    const clock = createRedisClock();
    clock.observe(Date.now() + 3_600_000, performance.now());
    const create = creatorWith(startTogether, { clock: { ...clock, observe: () => undefined } });

    await expect(create({ ...request, probes: ['fra-1'] })).rejects.toMatchObject({ name: 'StoreUnavailable' });

    expect(await allKeys()).toEqual(keysBefore);
  });
});

describe('a named probe without capacity', () => {
  const probes = ['fra-1', 'nyc-1'];
  const busy = new Set<string>();
  const load = {
    hasCapacity: ({ record }: KnownProbe): boolean => !busy.has(record.id),
    added: () => undefined,
    removed: () => undefined,
    forget: () => undefined,
    size: () => 0,
  };
  beforeEach(() => busy.clear());

  it('has no result of a check that was started before, when it may have got a job', async () => {
    const create = creatorWith(startTogether, { load });
    const id = drawId();
    await create({ ...request, probes }, undefined, id);
    busy.add('fra-1');
    const again = await create({ ...request, probes }, undefined, id);

    expect(again).toMatchObject({ created: true, checkId: id });
    expect((await bed.read(id)).results).toEqual({ 'fra-1': { result: 'pending' }, 'nyc-1': { result: 'pending' } });
  });

  it('does not refuse a check that was started before, though all its probes are full or gone now', async () => {
    const create = creatorWith(startTogether, { load });
    const [id, ofOther] = [drawId(), drawId()];
    await create({ ...request, probes }, undefined, id);
    await create({ ...request, probes }, undefined, ofOther);
    for (const probe of probes) busy.add(probe);

    const full = create({ ...request, probes, needed: ['fra-1'] }, undefined, id);
    await expect(full).resolves.toEqual({ created: true, checkId: id, probes, withoutJob: 0 });
    const gone = create({ ...request, locations: ['JP'] }, undefined, ofOther);
    await expect(gone).resolves.toMatchObject({ created: true, checkId: ofOther });
    const never = create({ ...request, probes }, undefined, drawId());
    await expect(never).rejects.toMatchObject({ name: 'QueuesFull' });
  });

  it('leaves a check that another coordinator started if a replica fails afterwards', async () => {
    const id = drawId();
    await creatorWith(startTogether, { load })({ ...request, probes }, undefined, id);
    const settled = async (): Promise<never> => Promise.reject(new Error('No replica has the check in time.'));
    const replicas = { poll: async () => undefined, server: () => undefined, settled };
    const again = creatorWith(startTogether, { load, replicas })({ ...request, probes }, undefined, id);

    await expect(again).rejects.toMatchObject({ name: 'StoreUnavailable' });
    expect((await bed.read(id)).results).toEqual({ 'fra-1': { result: 'pending' }, 'nyc-1': { result: 'pending' } });
  });

  it('makes for a refusal if it is needed, or the one that is needed is offline', async () => {
    const create = creatorWith(startTogether, { load });
    busy.add('fra-1');

    expect(await create({ ...request, probes, needed: ['nyc-1'] })).toMatchObject({ created: true, withoutJob: 1 });
    const full = { name: 'QueuesFull' };
    await expect(create({ ...request, probes, needed: ['fra-1'] })).rejects.toMatchObject(full);
    busy.clear();
    const ofOffline = { probes: ['nyc-1', 'off-1'], needed: ['off-1'] };
    await expect(create({ ...request, ...ofOffline })).rejects.toMatchObject(full);
  });

  it('gets no screenshot to take', async () => {
    busy.add('fra-1');
    const asked: string[][] = [];
    const plan = (_params: unknown, known: readonly KnownProbe[]): NewScreenshot => {
      asked.push(known.map(({ record }) => record.id));
      return { state: 'given_up', probe: null, reason: dispatchFailure('capability_missing', 'None here.') };
    };
    const create = creatorWith(startTogether, { load, screenshots: { ...noScreenshots, plan } });
    const checkType = { ...echo, screenshot: () => ({ url: 'http://h/' }) } as unknown as AnyCheckType;
    await create({ ...request, checkType, probes });

    expect(asked).toEqual([['nyc-1']]);
  });
});

type StartOf = (redis: Redis, queues: JobQueues) => StartCheck;

const startTogether: StartOf = (redis, queues) => createStartCheck(redis, queues, 60_000);

function creatorWith(startOf: StartOf, more?: Partial<CreateCheckDependencies>): Checks['create'] {
  return creationWith(startOf, more).create;
}

/** Builds the creation of checks from stubs and the Redis of `bed`; starts no second core. */
function creationWith(
  startOf: StartOf,
  { clock = createRedisClock(), ...more }: Partial<CreateCheckDependencies> = {},
): Pick<Checks, 'select' | 'create'> {
  const redis = bed.core.rateLimitRedis;
  const queues = createJobQueues(redis, quiet);
  const directory = createProbeDirectory({
    redis,
    clock,
    validators: createProbeValidators(),
    access: { of: () => NO_ACCESS, onChange: () => () => undefined },
    writes: takesWrites,
    oversize: { note: () => undefined },
    keptJobs: { note: () => undefined },
    log: quiet,
  });
  return createChecks({
    redis,
    clock,
    directory,
    types: createCheckTypes({ echo }),
    retentionMs: 60_000,
    deadlines: createDeadlines(redis),
    counters: createCounters(),
    screenshots: noScreenshots,
    screenshotBudgetMs: 0,
    tracing: noTracing,
    load: createProbeCapacity({ listen: () => () => undefined, longestWaitMs: 60_000 }),
    replicas: { poll: async () => undefined, server: () => undefined, settled: async () => undefined },
    writes: takesWrites,
    queues,
    startCheck: startOf(redis, queues),
    ...more,
  });
}

const request = {
  checkType: echo,
  submittedHost: 'h',
  params: { host: 'h', options: { budget: 5_000 } },
  limit: 1,
};

const noScreenshots = {
  plan: (): never => {
    throw new Error('This check wants none.');
  },
  passOn: async () => undefined,
};

async function allKeys(): Promise<readonly string[]> {
  // Heartbeats, streams and BullMQ's records of a queue change independently of a check.
  const others = /:(hb|events|id|meta|marker|res|guard|stalled-check)$/;
  return (await bed.redis.keys('*')).filter((key) => !others.test(key)).toSorted();
}

/** Waits for these keys: the rollback may continue after the response if Redis is slow. */
async function untilKeysAre(expected: readonly string[]): Promise<void> {
  let keys: readonly string[] = [];
  await until(async () => {
    keys = await allKeys();
    return keys.length <= expected.length;
  });
  expect(keys).toEqual(expected);
}

/** Calls back with each line of MONITOR. Uses a raw socket: a client library may take the first lines for replies. */
async function watchCommands(redisUrl: string, onLine: (line: string) => void): Promise<Socket> {
  const { hostname, port } = new URL(redisUrl);
  const socket = connect(Number(port), hostname);
  const lines = createInterface({ input: socket });
  await once(socket, 'connect');
  const watching = once(lines, 'line');
  socket.write('MONITOR\r\n');
  await watching;
  lines.on('line', onLine);
  return socket;
}
