import { redisKeys } from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { findRedisServer, startRedisServer } from '@vantage/redis-server';
import { Redis } from 'ioredis';

import { startCoreBed, type CoreBed } from '../../../../test/core-bed.ts';
import { keepPartial, writeFinals } from './write-results.ts';
import { readCheck } from './check-records.ts';
import { writeCheck } from './new-check.ts';
import { createDeadlines, type Deadlines } from '../deadlines.ts';

const retentionMs = 60_000;
const check = { type: 'echo', host: 'h', createdAt: 1, deadlineAt: Date.now() + 3_600_000, probes: ['a', 'b', 'c'] };

let bed: CoreBed;
let deadlines: Deadlines;

beforeAll(async () => {
  bed = await startCoreBed();
  deadlines = createDeadlines(bed.redis);
});

afterAll(async () => bed.stop());

function newId(): string {
  return Array.from({ length: 22 }, () => 'abcdefghij'[Math.floor(Math.random() * 10)]).join('');
}

describe('the record of a check', () => {
  it('takes one of the results that race for a probe, and counts down once', async () => {
    const id = newId();
    const others = Array.from({ length: 4 }, () => bed.redis.duplicate());
    await writeCheck(bed.redis, { id, ...check }, retentionMs);

    const said = await Promise.all(
      others.flatMap((redis, index) => [
        writeFinals(redis, id, [['a', `{"from":${index}}`]], { retentionMs, deadlines }),
        writeFinals(redis, id, [['b', `{"from":${index}}`]], { retentionMs, deadlines }),
      ]),
    );
    const record = await readCheck(bed.redis, id);

    expect(said.flat().filter((word) => word === 'applied')).toHaveLength(2);
    expect(said.flat().filter((word) => word === 'duplicate')).toHaveLength(6);
    expect(record?.completedAt).toBeNull();
    expect(await bed.redis.hget(redisKeys.check(id), 'pending')).toBe('1');
    for (const redis of others) redis.disconnect();
  });

  it('is completed by the last result, exactly once', async () => {
    const id = newId();
    await writeCheck(bed.redis, { id, ...check }, retentionMs);
    const results = check.probes.map((probe) => [probe, '{}'] as const);

    const first = await writeFinals(bed.redis, id, results, { retentionMs, deadlines });
    const completedAt = (await readCheck(bed.redis, id))?.completedAt;
    const second = await writeFinals(bed.redis, id, results, { retentionMs, deadlines });

    expect(first).toEqual(['applied', 'applied', 'applied']);
    expect(second).toEqual(['duplicate', 'duplicate', 'duplicate']);
    expect(completedAt).toEqual(expect.any(Number));
    expect((await readCheck(bed.redis, id))?.completedAt).toBe(completedAt);
    await deadlines.flush();
    expect(await bed.redis.zscore(redisKeys.deadlines, id)).toBeNull();
  });

  it('says of each result why it was not taken', async () => {
    const id = newId();
    // In the past: a time after a deadline in the future would itself be in the future, and count as in time.
    const deadlineAt = check.deadlineAt - 7_200_000;
    await writeCheck(bed.redis, { id, ...check }, retentionMs);
    await bed.redis.hset(redisKeys.check(id), { deadlineAt });

    expect(await writeFinals(bed.redis, newId(), [['a', '{}']], { retentionMs, deadlines })).toEqual(['unknown']);
    expect(await writeFinals(bed.redis, id, [['z', '{}']], { retentionMs, deadlines })).toEqual(['foreign']);
    expect(await writeFinals(bed.redis, id, [['__proto__', '{}']], { retentionMs, deadlines })).toEqual(['foreign']);
    expect(
      await writeFinals(bed.redis, id, [['a', '{}']], { retentionMs, deadlines, writtenAt: deadlineAt + 1 }),
    ).toEqual(['late']);
    expect(await writeFinals(bed.redis, id, [['a', '{}']], { retentionMs, deadlines, writtenAt: deadlineAt })).toEqual([
      'applied',
    ]);
  });

  it('asks Redis for the time only to complete the check, or for a result after the deadline', async () => {
    const id = newId();
    // Without a coordinator, which asks for the time too.
    const server = await startRedisServer({ executable: findRedisServer(process.env['PATH'] ?? '')! });
    const redis = new Redis(server.url);
    const times = async (writtenAt: number, ...probes: readonly string[]): Promise<number> => {
      await redis.config('RESETSTAT');
      const results = probes.map((probe) => [probe, '{}'] as const);
      await writeFinals(redis, id, results, { retentionMs, deadlines: createDeadlines(redis), writtenAt });
      return Number(/cmdstat_time:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0);
    };
    await writeCheck(redis, { id, ...check }, retentionMs);

    const asked = [
      await times(check.deadlineAt, 'a'),
      await times(check.deadlineAt + 1, 'z'),
      await times(check.deadlineAt, 'b', 'c'),
    ];

    redis.disconnect();
    await server.stop();
    expect(asked).toEqual([0, 1, 1]);
  });

  it('keeps of the partial results of a probe the newest, in the order of its stream', async () => {
    const id = newId();
    await writeCheck(bed.redis, { id, ...check }, retentionMs);

    const said = [
      await keepPartial(bed.redis, id, 'a', { ms: 10, sequence: 5 }, '{"n":1}'),
      await keepPartial(bed.redis, id, 'a', { ms: 10, sequence: 4 }, '{"n":0}'),
      await keepPartial(bed.redis, id, 'a', { ms: 10, sequence: 10 }, '{"n": 2, "text": "a b  c"}'),
      await keepPartial(bed.redis, id, 'a', { ms: 9, sequence: 99 }, '{"n":0}'),
      await keepPartial(bed.redis, id, 'z', { ms: 11, sequence: 0 }, '{}'),
    ];

    expect(said).toEqual(['applied', 'duplicate', 'applied', 'duplicate', 'foreign']);
    expect((await readCheck(bed.redis, id))?.partials).toEqual(new Map([['a', '{"n": 2, "text": "a b  c"}']]));
  });

  it('announces each change on its channel, with a version that counts up', async () => {
    const id = newId();
    const subscriber = bed.redis.duplicate();
    const messages: unknown[] = [];
    await subscriber.subscribe(redisKeys.checkEvents(id));
    subscriber.on('message', (_channel: string, message: string) => messages.push(JSON.parse(message)));
    await writeCheck(bed.redis, { id, ...check }, retentionMs);

    await keepPartial(bed.redis, id, 'a', { ms: 1, sequence: 0 }, '{}');
    await writeFinals(
      bed.redis,
      id,
      check.probes.map((probe) => [probe, '{}'] as const),
      { retentionMs, deadlines },
    );
    await subscriber.ping();

    expect(messages).toEqual([
      { version: 1, probe: 'a', kind: 'partial' },
      { version: 2, probe: 'a', kind: 'final' },
      { version: 3, probe: 'b', kind: 'final' },
      { version: 4, probe: 'c', kind: 'final' },
      { version: 5, kind: 'completed' },
    ]);
    subscriber.disconnect();
  });
});
