import { JOB_QUEUE, redisKeys } from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { Redis } from 'ioredis';

import { echo } from '../../test/echo-type.ts';
import { passDeadline, report, success } from '../../test/check-steps.ts';
import { PATIENT_MS, quiet, startCoreBed, until, type CoreBed } from '../../test/core-bed.ts';
import { createRedisClock } from '../redis/clock.ts';
import { CheckExpiry } from './expire-checks.ts';
import { createCounters } from './store/counters.ts';
import { createDeadlines, type Deadlines } from './store/deadlines.ts';
import { createJobQueues } from './store/job-queues.ts';

let bed: CoreBed;
let beating: NodeJS.Timeout;
const probeIds = ['fra-1', 'nyc-1'];

const queueKey = (probe: string, part: string): string => `${redisKeys.queuePrefix(probe)}:${JOB_QUEUE}:${part}`;

beforeAll(async () => {
  bed = await startCoreBed();
  for (const probe of probeIds) await bed.addProbe(probe);
  beatAll();
  beating = setInterval(beatAll, 2_000);
  await until(async () => (await bed.core.ready()).healthyProbes === probeIds.length);
});

afterAll(async () => {
  clearInterval(beating);
  await bed.stop();
});

/** Sends a heartbeat of every probe: without one for 15 s a probe is offline, and a slow machine may take that long. */
function beatAll(): void {
  for (const probe of probeIds) void bed.beat(probe).catch(() => undefined);
}

describe('the deadline of a check', () => {
  it('gives a probe that did not answer its timeout, with what it had shown, and keeps the answers there are', async () => {
    const id = await bed.start({ probes: ['fra-1', 'nyc-1'] });
    await report(bed.redis, 'fra-1', id, success('in time'));
    const partial = { said: 'so far', startedAt: '2026-01-01T00:00:00.000Z', resolvedIp: '192.0.2.1' };
    await report(bed.redis, 'nyc-1', id, partial, { kind: 'partial' });
    await until(async () => 'said' in (await bed.read(id)).results['nyc-1']!);
    await passDeadline(bed.redis, id);

    const check = await bed.read(id, PATIENT_MS);

    expect(check.status).toBe('completed');
    expect(check.results['fra-1']).toMatchObject({ result: 'success', said: 'in time' });
    expect(check.results['nyc-1']).toEqual({
      ...partial,
      result: 'timeout',
      rt: null,
      country: 'Nowhere',
      finishedAt: expect.any(String),
      error: { code: 'probe_timeout', phase: 'dispatch', source: 'probe', message: expect.any(String) },
    });
  });

  it('takes the waiting job back, and follows no other keys of the agent', async () => {
    const id = await bed.start({ probes: ['fra-1'] });
    const victim = await bed.start({ probes: ['nyc-1'] });
    // A trap: BullMQ's own removal follows these keys and deletes what they name.
    await bed.redis.sadd(`${queueKey('fra-1', id)}:dependencies`, queueKey('nyc-1', victim));
    await bed.redis.hset(queueKey('fra-1', id), 'parentKey', redisKeys.check(victim));
    await passDeadline(bed.redis, id);

    await bed.read(id, PATIENT_MS);

    expect(await bed.redis.lpos(queueKey('fra-1', 'wait'), id)).toBeNull();
    expect(await bed.redis.exists(queueKey('fra-1', id))).toBe(0);
    expect(await bed.redis.exists(queueKey('nyc-1', victim))).toBe(1);
    expect((await bed.read(victim)).status).toBe('pending');
  });

  it('leaves a job alone that an agent has begun', async () => {
    const id = await bed.start({ probes: ['fra-1'] });
    await bed.redis.lrem(queueKey('fra-1', 'wait'), 0, id);
    await bed.redis.lpush(queueKey('fra-1', 'active'), id);
    await passDeadline(bed.redis, id);

    await bed.read(id, PATIENT_MS);

    expect(await bed.redis.exists(queueKey('fra-1', id))).toBe(1);
    await bed.redis.lrem(queueKey('fra-1', 'active'), 0, id);
  });

  it('is final: what comes later changes nothing', async () => {
    const id = await bed.start({ probes: ['fra-1'], budget: 300 });
    const ended = await bed.read(id, PATIENT_MS);
    const before = bed.core.counters.resultsLate;

    await report(bed.redis, 'fra-1', id, success('late'));
    await report(bed.redis, 'fra-1', id, { said: 'late too' }, { kind: 'partial' });
    await until(() => bed.core.counters.resultsLate > before);

    expect(await bed.read(id)).toEqual(ended);
    expect(ended.results['fra-1']).toMatchObject({ result: 'timeout' });
    expect(Date.parse(ended.completedAt!) - Date.parse(ended.createdAt)).toBeGreaterThanOrEqual(300);
  });

  it('ends checks when Redis has no memory left', async () => {
    const id = await bed.start({ probes: ['fra-1'] });
    await passDeadline(bed.redis, id, { maxmemory: '1' });

    const check = await bed.read(id, PATIENT_MS);

    await bed.takeWrites();
    expect(check.status).toBe('completed');
    expect(check.results['fra-1']).toMatchObject({ result: 'timeout' });
  });

  it('ends a check whose coordinator died right after it wrote the deadline', async () => {
    const ghost = 'g'.repeat(22);
    await bed.redis.zadd(redisKeys.deadlines, 1, ghost);

    await until(async () => (await bed.redis.zscore(redisKeys.deadlines, ghost)) === null);

    expect(await bed.redis.exists(redisKeys.check(ghost))).toBe(0);
  });

  it('ends hundreds of checks that are due at once', async () => {
    const ids = await Promise.all(
      Array.from({ length: 250 }, () => bed.start({ probes: ['fra-1', 'nyc-1'], budget: 1_000 })),
    );

    const checks = await Promise.all(ids.map((id) => bed.read(id, PATIENT_MS)));

    for (const check of checks) expect(check.status).toBe('completed');
    for (const probe of ['fra-1', 'nyc-1']) {
      const waiting = new Set(await bed.redis.lrange(queueKey(probe, 'wait'), 0, -1));
      expect(ids.filter((id) => waiting.has(id))).toEqual([]);
    }
  });

  it('does not wait for the ending of another check', async () => {
    const [held, other] = [await bed.start({ probes: ['fra-1'] }), await bed.start({ probes: ['fra-1'] })];
    await bed.core.close();
    const gate = Promise.withResolvers<void>();
    const expiry = expiryOn(heldUp(bed.redis, held, gate.promise));
    await bed.redis.zadd(redisKeys.deadlines, 1, held);

    await expiry.poll();
    await bed.redis.zadd(redisKeys.deadlines, 2, other);
    await expiry.poll();
    await until(async () => (await bed.redis.hget(redisKeys.check(other), 'completedAt')) !== null);
    const isHeldPending = (await bed.redis.hget(redisKeys.check(held), 'completedAt')) === null;
    gate.resolve();
    await expiry.settled();

    expect(isHeldPending).toBe(true);
    expect(await bed.redis.hget(redisKeys.check(held), 'completedAt')).not.toBeNull();
  });

  it('asks Redis no more for a check of several probes, and nothing for one that it has ended', async () => {
    const checks = await startAlone(['fra-1'], ['fra-1', 'nyc-1']);
    const counted = counting(bed.redis);
    // Until the result budget has counted them, completed checks are still due.
    const expiry = expiryOn(counted.redis, { forget: () => undefined }, () => 0);
    for (const id of checks) await bed.redis.zadd(redisKeys.deadlines, 1, id);

    await expiry.poll();
    await expiry.settled();
    const ending = checks.map(counted.commandsOf);
    await expiry.poll();
    await expiry.settled();

    expect(await Promise.all(checks.map((id) => bed.redis.hget(redisKeys.check(id), 'pending')))).toEqual(['0', '0']);
    expect(ending[1]).toBe(ending[0]);
    expect(checks.map(counted.commandsOf)).toEqual(ending);
    await bed.redis.zrem(redisKeys.deadlines, ...checks);
  });

  it('removes a deadline that Redis refused to remove, a second later', async () => {
    const [id = ''] = await startAlone(['fra-1']);
    const refused = refusingOnce(bed.redis, 'zrem');
    let nowMs = 0;
    const expiry = expiryOn(refused, {}, () => nowMs);
    await bed.redis.zadd(redisKeys.deadlines, 1, id);
    const poll = async (): Promise<string | null> => {
      await expiry.poll();
      await expiry.settled();
      return await bed.redis.zscore(redisKeys.deadlines, id);
    };

    expect([await poll(), await poll(), await poll()]).toEqual(['1', '1', '1']);
    nowMs = 1_000;
    expect([await poll(), await poll()]).toEqual(['1', null]);
  });

  it('ends a check again whose completion a promoted replica does not have', async () => {
    const [id = ''] = await startAlone(['fra-1']);
    const keys = [redisKeys.check(id), redisKeys.checkResults(id)];
    const before = await Promise.all(keys.map((key) => bed.redis.dumpBuffer(key)));
    let nowMs = 0;
    const expiry = expiryOn(bed.redis, { forget: () => undefined }, () => nowMs);
    await bed.redis.zadd(redisKeys.deadlines, 1, id);
    await expiry.poll();
    await expiry.settled();
    await Promise.all(keys.map((key, index) => bed.redis.restore(key, 0, before[index]!, 'REPLACE')));

    nowMs = 1_000;
    await expiry.poll();
    await expiry.settled();

    expect(await bed.redis.hget(redisKeys.check(id), 'pending')).toBe('0');
    await bed.redis.zrem(redisKeys.deadlines, id);
  });

  it('counts a result that was written in time and not yet taken in by anyone', async () => {
    const [id = ''] = await startAlone(['fra-1']);
    await report(bed.redis, 'fra-1', id, success('while none ran'));
    await passDeadline(bed.redis, id);

    const next = bed.startCore();
    await until(async () => (await next.ready()).redis);
    const check = await next.checks.read(id, PATIENT_MS, new AbortController().signal);

    expect(check?.results['fra-1']).toMatchObject({ result: 'success', said: 'while none ran' });
  });
});

/** Starts a check of each list of probes, with a coordinator that no longer runs then. */
async function startAlone(...lists: readonly (readonly string[])[]): Promise<readonly string[]> {
  await bed.core.close();
  const lonely = bed.startCore();
  await until(async () => (await lonely.ready()).healthyProbes === probeIds.length);
  const params = { host: 'h', options: { budget: 600_000 } };
  const request = { checkType: echo, submittedHost: 'h', limit: 1, params };
  const creations = await Promise.all(lists.map((probes) => lonely.checks.create({ ...request, probes })));
  await lonely.close();
  return creations.map((creation) => (creation.created ? creation.checkId : ''));
}

/** The expiry task of a coordinator whose agents write nothing. */
function expiryOn(redis: Redis, changed: Partial<Deadlines> = {}, nowMs?: () => number): CheckExpiry {
  const dependencies = {
    redis,
    clock: createRedisClock(),
    deadlines: { ...createDeadlines(redis), ...changed },
    queues: createJobQueues(redis, quiet),
    ingest: { drain: async () => undefined },
    screenshots: { end: async () => undefined },
    retentionMs: 3_600_000,
    counters: createCounters(),
    isGrace: () => false,
    gate: { isOpen: () => true },
    log: quiet,
  };
  return new CheckExpiry(dependencies, nowMs);
}

/** A connection that delays the commands about one check. */
function heldUp(connection: Redis, id: string, open: Promise<void>): Redis {
  return new Proxy(connection, {
    get: (redis, name) => {
      const value: unknown = Reflect.get(redis, name);
      if (typeof value !== 'function') return value;
      return async (...given: unknown[]): Promise<unknown> => {
        if (given.some((one) => String(one).includes(id))) await open;
        return value.apply(redis, given);
      };
    },
  });
}

/** A connection that refuses a command the first time, as a Redis does that cannot write its file. */
function refusingOnce(connection: Redis, command: string): Redis {
  let isRefused = false;
  return new Proxy(connection, {
    get: (redis, name) => {
      const value: unknown = Reflect.get(redis, name);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        if (name !== command || isRefused) return value.apply(redis, given);
        isRefused = true;
        return Promise.reject(new Error('MISCONF Errors writing to the AOF file'));
      };
    },
  });
}

/** A connection that counts the commands about each check. */
function counting(connection: Redis): { readonly redis: Redis; readonly commandsOf: (id: string) => number } {
  const given: string[] = [];
  const redis = new Proxy(connection, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...values: unknown[]): unknown => {
        given.push(values.map(String).join(' '));
        return value.apply(target, values);
      };
    },
  });
  return { redis, commandsOf: (id) => given.filter((one) => one.includes(id)).length };
}
