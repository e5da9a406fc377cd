import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { zstdCompressSync } from 'node:zlib';

import { JOB_QUEUE, redisKeys } from '@vantage/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { tracerouteResult } from '@vantage/test-support/traceroute-result';
import { openFailFast } from '@vantage/redis-connections';
import { findRedisServer, startRedisCluster, type RedisCluster } from '@vantage/redis-server';
import type { Redis } from 'ioredis';

import { echo } from '../../../test/echo-type.ts';
import { PATIENT_MS, quiet, startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { report, success } from '../../../test/check-steps.ts';
import { createIdempotencyStore } from '../create/idempotency-store.ts';
import { createCounters } from './counters.ts';
import { createResultBudget, type ResultBudget } from './result-budget.ts';
import { IDEMPOTENCY_RECORD_BYTES, REMOVED_BYTES } from './stored-bytes.ts';
import { DICTIONARY } from './stored-dictionary.ts';
import { fromStored, toStored } from './stored-json.ts';

const KEPT_MS = 3_600_000;

describe('the budget of results', () => {
  let bed: CoreBed;

  beforeAll(async () => {
    bed = await startCoreBed();
  });

  afterAll(() => bed.stop());

  afterEach(() => bed.redis.flushall());

  /** A budget separate from that of the test bed's coordinator, which counts none of these checks. */
  function open(
    maxBytes: number,
    maxClientBytes = maxBytes,
    redis = bed.redis,
  ): ResultBudget & { readonly told: string[] } {
    const told: string[] = [];
    const counters = createCounters();
    const onNoted = (id: string): void => void told.push(id);
    const options = { redis, maxBytes, maxClientBytes, keptMs: KEPT_MS, counters, onNoted, log: quiet };
    return { ...createResultBudget(options), told };
  }

  async function complete(id: string, client: string, ...into: readonly ResultBudget[]): Promise<void> {
    await bed.redis.hset(redisKeys.check(id), { type: 'echo', completedAt: '1', client });
    await bed.redis.pexpire(redisKeys.check(id), KEPT_MS);
    await bed.redis.hset(redisKeys.checkResults(id), { p: 'x'.repeat(100) });
    for (const budget of into) budget.note(id, { bytes: 100, client });
    for (const budget of into) await budget.poll();
    // Times are in milliseconds: two checks of the same millisecond have no order.
    const now = async (): Promise<number> => {
      const [seconds, microseconds] = await bed.redis.time();
      return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
    };
    const since = await now();
    await until(async () => (await now()) !== since);
  }

  async function kept(...ids: readonly string[]): Promise<readonly string[]> {
    const there = await Promise.all(ids.map((id) => bed.redis.exists(redisKeys.checkResults(id))));
    return ids.filter((_, index) => there[index] === 1);
  }

  /** The sums of the ledger, and the parts that they must equal. */
  async function sums(): Promise<Readonly<Record<string, number>>> {
    const sizes = Object.values(await bed.redis.hgetall(`${redisKeys.resultAccounting}:sizes`)).map(Number.parseFloat);
    const clients = await bed.redis.zrange(`${redisKeys.resultAccounting}:clients`, '0', '-1', 'WITHSCORES');
    const ofClients = clients.filter((_, index) => index % 2 === 1).map(Number);
    const add = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
    const total = Number(await bed.redis.get(`${redisKeys.resultAccounting}:bytes`));
    return { total, ofSizes: add(sizes), ofClients: add(ofClients), checks: sizes.length };
  }

  it('counts no check whose completion was seen on a connection that was lost since', async () => {
    const redis = bed.redis.duplicate();
    const budget = open(500, 500, redis);
    await until(async () => redis.status === 'ready');

    budget.note('completed where it was lost', { bytes: 100, client: 'a' });
    const ready = once(redis, 'ready');
    redis.disconnect(true);
    await ready;
    budget.note('completed', { bytes: 100, client: 'a' });
    await budget.poll();

    expect(budget.told).toEqual(['completed']);
    redis.disconnect();
  });

  it('removes the oldest checks of the bulkiest client, and none of another', async () => {
    const budget = open(500);
    await complete('small', 'b', budget);
    for (const id of ['a1', 'a2', 'a3', 'a4']) await complete(id, 'a', budget);
    expect(await kept('small', 'a1', 'a2', 'a3', 'a4')).toEqual(['small', 'a1', 'a2', 'a3', 'a4']);

    await complete('other', 'c', budget);
    await complete('a5', 'a', budget);

    expect(await kept('small', 'a1', 'a2', 'a3', 'a4', 'a5', 'other')).toEqual(['small', 'a3', 'a4', 'a5', 'other']);
    expect(await sums()).toEqual({ total: 500, ofSizes: 500, ofClients: 500, checks: 5 });
  });

  it('removes those of a client beyond its share, though there is room', async () => {
    const budget = open(10_000, 200);
    for (const id of ['a1', 'a2', 'a3']) await complete(id, 'a', budget);
    await complete('b1', 'b', budget);

    expect(await kept('a1', 'a2', 'a3', 'b1')).toEqual(['a2', 'a3', 'b1']);
  });

  it('keeps the newest check of a client, be it larger than its share, while there is room for all', async () => {
    const budget = open(1_000, 50);
    await complete('a1', 'a', budget);
    await complete('a2', 'a', budget);
    expect(await kept('a1', 'a2')).toEqual(['a2']);

    await open(50).poll();
    expect(await kept('a2')).toEqual([]);
  });

  it('counts a check once, even if several coordinators add it repeatedly, and notifies each time', async () => {
    const [first, second] = [open(1_000), open(1_000)];
    await complete('a1', 'a', first, second, first);

    expect(await sums()).toMatchObject({ total: 100, checks: 1 });
    expect([first.told, second.told]).toEqual([['a1', 'a1'], ['a1']]);
  });

  it('removes with the next look what a coordinator that died had named and not removed', async () => {
    await complete('a1', 'a', open(10_000));
    await complete('a2', 'a', open(10_000));
    // Simulates a coordinator that dies after its first script, which selected a1.
    const { noteScript } = await import('./result-budget-scripts.ts');
    const named = await bed.redis.eval(noteScript.lua, 1, redisKeys.resultAccounting, 100, 100, KEPT_MS);
    expect(named).toEqual([200, 200, 'a1', 'a']);

    await open(100).poll();

    expect(await kept('a1', 'a2')).toEqual(['a2']);
    expect(await sums()).toMatchObject({ total: 100, checks: 1 });
  });

  it('forgets checks that have expired', async () => {
    await complete('a1', 'a', open(10_000));
    await bed.redis.zadd(redisKeys.resultAccounting, '0', 'a1');
    await complete('b1', 'b', open(10_000));

    expect(await sums()).toEqual({ total: 100, ofSizes: 100, ofClients: 100, checks: 1 });
  });

  it('keeps the newest records of removed checks, of each client and in all, and forgets the others', async () => {
    // Room for the records of 3 evicted checks of one client and of 6 in total, and for the results of one check of a
    // client and of two in total.
    const budget = open(64 * 6 * REMOVED_BYTES, 64 * 3 * REMOVED_BYTES);
    const reason = async (id: string): Promise<string | null> => bed.redis.hget(redisKeys.check(id), 'evicted');
    const reasons = async (ids: readonly string[]): Promise<readonly string[]> => {
      const found = await Promise.all(ids.map(reason));
      return ids.filter((_, index) => found[index] !== null);
    };
    const run = async (client: string, count: number): Promise<readonly string[]> => {
      const ids = Array.from({ length: count }, (_, index) => `${client}${index}`);
      const large = { bytes: 64 * 3 * REMOVED_BYTES, client };
      for (const id of ids) {
        await complete(id, client);
        budget.note(id, large);
        await budget.poll();
      }
      return ids;
    };

    // The newest check of each client keeps its results.
    const a = await run('a', 6);
    expect(await reasons(a)).toEqual(['a2', 'a3', 'a4']);
    expect(await bed.redis.exists(...a.slice(0, 2).map((id) => redisKeys.check(id)))).toBe(0);
    expect(await kept(...a)).toEqual(['a5']);

    const [b, c] = [await run('b', 6), await run('c', 4)];
    expect((await reasons([...a, ...b, ...c])).length).toBeLessThanOrEqual(6);
    expect(await reasons(c)).toContain('c2');
    expect(Number(await bed.redis.get(`${redisKeys.removedAccounting}:bytes`))).toBeLessThanOrEqual(6 * REMOVED_BYTES);
    const known = await bed.redis.zrange(redisKeys.removedAccounting, '0', '-1');
    expect((await reasons(known)).toSorted()).toEqual(known.toSorted());
  });

  it('frees the idempotency key of a check that it removes', async () => {
    const answers = createIdempotencyStore(bed.redis);
    const never = new AbortController().signal;
    const claim = await answers.claim('192.0.2.1', 'key', 'body', never);
    if (claim.kind !== 'first') throw new Error(claim.kind);
    await claim.keep({ checkId: 'a1', message: 'It runs.' });
    await complete('a1', 'a');
    await bed.redis.hset(redisKeys.check('a1'), 'first', claim.digest!);
    expect((await answers.claim('192.0.2.1', 'key', 'body', never)).kind).toBe('repeated');

    const budget = open(50);
    budget.note('a1', { bytes: 100, client: 'a' });
    await budget.poll();

    expect((await answers.claim('192.0.2.1', 'key', 'body', never)).kind).toBe('first');
  });

  it('leaves a check that is pending as it is', async () => {
    await bed.redis.hset(redisKeys.check('p1'), { type: 'echo', client: 'a' });
    await bed.redis.hset(redisKeys.checkResults('p1'), 'p', '');
    const budget = open(10);
    budget.note('p1', { bytes: 100, client: 'a' });
    await budget.poll();

    expect(await kept('p1')).toEqual(['p1']);
  });
});

describe('a service whose Redis is small', () => {
  const MAX_MEMORY = 24 * 1_048_576;
  let bed: CoreBed;

  beforeAll(async () => {
    bed = await startCoreBed({ arguments: ['--maxmemory', String(MAX_MEMORY)] });
    await bed.addProbe('fra-1');
    await bed.keepAlive('fra-1');
    await until(async () => (await bed.core.ready()).healthyProbes === 1);
  });

  afterAll(() => bed.stop());

  /** Empties the queue like the agent: a probe with too many jobs gets no more. */
  async function takeJobs(): Promise<void> {
    await bed.redis.del(`${redisKeys.queuePrefix('fra-1')}:${JOB_QUEUE}:wait`);
  }

  async function run(client: string, said: string): Promise<string> {
    const creation = await bed.core.checks.create(
      {
        checkType: echo,
        submittedHost: 'a.example',
        limit: 1,
        params: { host: 'a.example', options: { budget: 120_000 } },
      },
      client,
    );
    if (!creation.created) throw new Error(JSON.stringify(creation));
    await report(bed.redis, 'fra-1', creation.checkId, success(said));
    await takeJobs();
    await bed.read(creation.checkId, PATIENT_MS);
    return creation.checkId;
  }

  it('takes every check of one client while another fills it with large results', async () => {
    const first = await run('quiet', 'a small result');
    const filled: string[] = [];
    // Twice the available memory before compression, after which random hexadecimal digits take more than half of it.
    for (let bytes = 0; bytes < 2 * MAX_MEMORY; bytes += 8 * 40_000) {
      const runs = Array.from({ length: 8 }, () => run('greedy', randomBytes(20_000).toString('hex')));
      filled.push(...(await Promise.all(runs)));
      if (filled.length % 48 === 0) await run('quiet', 'another');
    }

    expect((await bed.read(first)).results['fra-1']).toMatchObject({ said: 'a small result' });
    const reasons = await Promise.all(filled.map((id) => bed.redis.hget(redisKeys.check(id), 'evicted')));
    const removed = filled[reasons.findLastIndex((reason) => reason !== null)]!;
    await expect(bed.read(removed)).rejects.toMatchObject({
      name: 'CheckEvicted',
      message: expect.stringContaining('removed before their time'),
    });
    await expect(bed.core.live.follow(removed, () => undefined)).rejects.toMatchObject({ name: 'CheckEvicted' });
    await expect(bed.core.checks.screenshot(removed)).rejects.toMatchObject({ name: 'CheckEvicted' });
    // The record of the eviction is gone too.
    await expect(bed.read(filled[0]!)).rejects.toThrow('there is no such check');
    expect((await bed.read(filled.at(-1)!)).status).toBe('completed');
    const used = Number(/^used_memory:(\d+)/m.exec(await bed.redis.info('memory'))?.[1]);
    expect(used).toBeLessThan(MAX_MEMORY);
    expect(bed.core.counters.checksEvicted).toBeGreaterThan(100);
  });

  it('counts about what Redis has for it', async () => {
    const { maxBytes, maxClientBytes } = bed.core.resultBudget();
    const bytesNow = async (): Promise<number> => Number(await bed.redis.get(`${redisKeys.resultAccounting}:bytes`));
    // The last of the selected checks may still be there.
    await until(async () => (await bytesNow()) <= 1.1 * maxClientBytes);
    const bytes = await bytesNow();
    const ids = await bed.redis.zrange(redisKeys.resultAccounting, '0', '-1');
    const keys = ids.flatMap((id) => [redisKeys.check(id), redisKeys.checkResults(id)]);
    const used = await Promise.all(keys.map(async (key) => Number(await bed.redis.memory('USAGE', key))));
    const sum = used.reduce((all, one) => all + one, 0);

    expect([maxBytes, maxClientBytes]).toEqual([MAX_MEMORY / 2, MAX_MEMORY / 8]);
    expect(bytes / sum).toBeGreaterThan(0.85);
    expect(bytes / sum).toBeLessThan(1.5);
  });

  it('counts the record of an idempotency key with its check, as much as it takes', async () => {
    const selected = await bed.core.checks.select({
      checkType: echo,
      submittedHost: 'a.example',
      limit: 1,
      params: { host: 'a.example', options: { budget: 120_000 } },
    });
    if (selected.created === false) throw new Error(JSON.stringify(selected));
    const creation = await selected.start({ client: 'keyed', first: 'd'.repeat(43) });
    if (creation === undefined) throw new Error('the check was not admitted');
    const plain = await run('plain', 'the same');
    await report(bed.redis, 'fra-1', creation.checkId, success('the same'));
    await bed.read(creation.checkId, PATIENT_MS);
    const bytesOf = async (client: string): Promise<number> =>
      Number(await bed.redis.zscore(`${redisKeys.resultAccounting}:clients`, client));
    await until(async () => (await bytesOf('plain')) > 0 && (await bytesOf('keyed')) > 0);

    expect((await bytesOf('keyed')) - (await bytesOf('plain'))).toBe(IDEMPOTENCY_RECORD_BYTES);
    expect((await bed.read(plain)).status).toBe('completed');
  });

  it('counts a check whose coordinator died when it had completed it', async () => {
    const { checkId } = (await bed.create({ probes: ['fra-1'] })) as { readonly checkId: string };
    // Simulates a coordinator that died after writing the last result, before counting it.
    await bed.redis.hset(redisKeys.checkResults(checkId), 'fra-1', JSON.stringify(success('done')));
    await bed.redis.hset(redisKeys.check(checkId), { completedAt: '1', pending: '0', client: 'dead' });
    await bed.redis.zadd(redisKeys.deadlines, '0', checkId);

    await until(async () => (await bed.redis.zscore(`${redisKeys.resultAccounting}:clients`, 'dead')) !== null);
    await until(async () => (await bed.redis.zscore(redisKeys.deadlines, checkId)) === null);
  });
});

describe('the budget of results on a cluster', () => {
  let cluster: RedisCluster;
  let redis: Redis;

  beforeAll(async () => {
    cluster = await startRedisCluster(findRedisServer(process.env['PATH'] ?? '')!);
    redis = openFailFast({ url: cluster.url, name: 'test', log: quiet });
    await until(() => redis.status === 'ready');
  });

  afterAll(async () => {
    redis.disconnect();
    await cluster.stop();
  });

  it('removes checks of every master, and finds how much memory they have together', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `check-${index}`);
    for (const id of ids) {
      await redis.hset(redisKeys.check(id), { type: 'echo', completedAt: '1', shot: '' });
      await redis.hset(redisKeys.checkResults(id), { p: 'x' });
      await redis.pexpire(redisKeys.check(id), KEPT_MS);
    }
    const options = { redis, keptMs: KEPT_MS, counters: createCounters(), onNoted: () => undefined, log: quiet };
    const bytes = 64 * ids.length * REMOVED_BYTES;
    const budget = createResultBudget({ ...options, maxBytes: bytes, maxClientBytes: bytes });
    for (const id of ids) budget.note(id, { bytes, client: 'a' });
    while (await budget.poll());

    expect(options.counters.checksEvicted).toBe(11);
    const evicted = await Promise.all(ids.map((id) => redis.hget(redisKeys.check(id), 'evicted')));
    expect(evicted.filter((reason) => reason !== null)).toHaveLength(11);
    const sizes = await Promise.all(ids.map((id) => redis.memory('USAGE', redisKeys.check(id))));
    expect(sizes.filter((size) => size! > 200)).toEqual([]);
    expect(budget.status()).toMatchObject({ bytes, maxBytes: bytes });
    const own = createResultBudget(options);
    await own.poll();
    expect(own.status().maxBytes).toBe(512 * 1_048_576);
  });
});

describe('a stored result', () => {
  it.each([
    ['short', '{"a":1}', false],
    ['long and repetitive', JSON.stringify({ headers: Array.from({ length: 500 }, () => ['x', 'ü"\u2028']) }), true],
    ['long and random', JSON.stringify({ said: randomBytes(20_000).toString('base64url') }), false],
  ])('is what it was: %s', (_kind, json, isPacked) => {
    const stored = toStored(json);

    expect(fromStored(stored)).toBe(json);
    expect(stored !== json).toBe(isPacked);
    expect(stored.length).toBeLessThanOrEqual(json.length);
  });

  it('is read as older releases stored it', () => {
    const json = JSON.stringify({ said: 'x'.repeat(50_000) });
    const withoutDictionary = `z:${zstdCompressSync(json).toString('base64')}`;

    expect([fromStored(json), fromStored(withoutDictionary)]).toEqual([json, json]);
  });

  it('takes less than 2 KiB for an ordinary traceroute', () => {
    const sizes = Array.from({ length: 50 }, (_, seed) => toStored(JSON.stringify(tracerouteResult(seed))).length);

    expect(Math.max(...sizes)).toBeLessThan(2_048);
  });

  it('depends on a dictionary that other coordinators have too', () => {
    // Never adapt this value: a changed dictionary needs a new prefix, and the old one stays to read stored results.
    expect(createHash('sha256').update(DICTIONARY).digest('hex')).toBe(
      '7a062e7a561d7504630dcefb831e25c78c90168d57762a6903d21068fc5b6cc8',
    );
  });
});
