import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { redisKeys } from '@vantage/contract';
import { findRedisServer, startRedisServer, type RedisServer } from '@vantage/redis-server';
import { Redis } from 'ioredis';

import { quiet, startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { report, startLongCheck, success } from '../../../test/check-steps.ts';
import { openChannels, type Channels } from '../../redis/channels.ts';
import { runScript } from '../../redis/scripts.ts';
import { checkKeys } from '../store/records/check-records.ts';
import { CheckEvicted } from '../../redis/store-errors.ts';
import { soleMaster } from '../../redis/server-state/master-watch.ts';
import { createLiveChecks } from './follow-checks.ts';
import type { LiveCheck } from './live-check.ts';
import { evictScript } from '../store/result-budget-scripts.ts';

/** Channels without messages, with their listeners. */
interface DeafChannels extends Pick<Channels, 'listen'> {
  readonly listening: Set<string>;
}

function deafChannels(): DeafChannels {
  const listening = new Set<string>();
  return {
    listening,
    listen: (channel) => {
      listening.add(channel);
      return () => void listening.delete(channel);
    },
  };
}

const ignore = (): void => undefined;
const jsons = (check: LiveCheck, after = -1): readonly unknown[] =>
  check.since(after).map(({ probe, json }) => [probe, (JSON.parse(json) as { said?: string }).said ?? 'nothing']);

describe('following a check', () => {
  let bed: CoreBed;
  const start = (probes: readonly string[] = ['fra-1', 'nyc-1']): Promise<string> => startLongCheck(bed, probes);

  beforeAll(async () => {
    bed = await startCoreBed();
    for (const id of ['fra-1', 'nyc-1']) {
      await bed.addProbe(id);
    }
  });

  afterAll(() => bed.stop());

  it('follows a check of one probe that is named like a field of its record', async () => {
    await bed.addProbe('shot');
    const id = await start(['shot']);
    const live = createLiveChecks({ redis: bed.redis, channels: deafChannels(), master: soleMaster, log: quiet });
    const check = await live.follow(id, ignore);
    check?.close();

    expect(check?.since(-1)).toMatchObject([{ probe: 'shot', hasScreenshot: false }]);
  });

  it('reads each change once, however many follow', async () => {
    let readings = 0;
    const counting = Object.create(bed.redis, {
      evalsha: {
        value: (...args: Parameters<Redis['evalsha']>) => {
          readings += 1;
          return bed.redis.evalsha(...args);
        },
      },
    }) as Redis;
    const subscriber = new Redis(bed.server.url);
    const subscribed = Promise.withResolvers<void>();
    // Resolves when the subscription is established, before any listener is asked to read again.
    const channels = openChannels(subscriber, () => subscribed.resolve());
    await subscribed.promise;
    const live = createLiveChecks({ redis: counting, channels, master: soleMaster, log: quiet });
    const id = await start();
    let told = 0;
    const follow = (): Promise<LiveCheck | undefined> => live.follow(id, () => (told += 1));
    const checks = await Promise.all(Array.from({ length: 100 }, follow));
    const atOnce = readings;

    await report(bed.redis, 'fra-1', id, success('one'));
    await report(bed.redis, 'nyc-1', id, success('two'));
    await until(() => checks.every((check) => check?.completion() !== undefined));

    expect(atOnce).toBe(1);
    // One reading for each of three messages, plus polls of a slow run.
    expect(readings).toBeLessThan(50);
    expect(told).toBeGreaterThanOrEqual(100);
    for (const check of checks) check?.close();
    channels.stop();
    subscriber.disconnect();
  });

  it.concurrent('finds what a lost message told, and stops listening when nothing can change any more', async () => {
    const channels = deafChannels();
    const live = createLiveChecks({ redis: bed.redis, channels, master: soleMaster, log: quiet });
    const id = await start(['fra-1']);
    const check = await live.follow(id, ignore);
    expect([...channels.listening]).toEqual([redisKeys.checkEvents(id)]);

    await report(bed.redis, 'fra-1', id, success('done'));
    await until(() => check?.completion() !== undefined);

    expect(check?.completion()).toMatchObject({ version: 2, check: { testId: id, status: 'completed' } });
    expect([...channels.listening]).toEqual([]);
    check?.close();
  });

  it('leaves nothing behind when all have gone, in whatever order', async () => {
    const channels = deafChannels();
    const live = createLiveChecks({ redis: bed.redis, channels, master: soleMaster, log: quiet });
    const id = await start();
    const [first, second] = [await live.follow(id, ignore), await live.follow(id, ignore)];

    first?.close();
    first?.close();
    expect(channels.listening.size).toBe(1);
    second?.close();

    expect(channels.listening.size).toBe(0);
    expect(await live.follow('x'.repeat(22), ignore)).toBeUndefined();
    expect(channels.listening.size).toBe(0);
  });

  it.concurrent('starts again if Redis has lost states that were sent', async () => {
    const live = createLiveChecks({ redis: bed.redis, channels: deafChannels(), master: soleMaster, log: quiet });
    const id = await start();
    await report(bed.redis, 'fra-1', id, success('lost'));
    await until(async () => (await bed.read(id)).results['fra-1']!['said'] === 'lost');
    const check = (await live.follow(id, ignore))!;
    expect([check.epoch(), check.version()]).toEqual([0, 1]);
    expect(jsons(check)).toContainEqual(['fra-1', 'lost']);

    await bed.redis.hset(redisKeys.checkResults(id), 'fra-1', '');
    await bed.redis.hdel(redisKeys.check(id), 'v:fra-1');
    await bed.redis.hset(redisKeys.check(id), { v: 0, pending: 2 });
    await until(() => check.epoch() === 1);

    expect(jsons(check)).toEqual([
      ['fra-1', 'nothing'],
      ['nyc-1', 'nothing'],
    ]);
    check.close();
  });

  it.concurrent('shows a completed check as it is kept, also where Redis lost a part and overtook it before it was looked at', async () => {
    const live = createLiveChecks({ redis: bed.redis, channels: deafChannels(), master: soleMaster, log: quiet });
    const id = await start();
    await report(bed.redis, 'fra-1', id, success('lost'));
    await until(async () => (await bed.read(id)).results['fra-1']!['said'] === 'lost');
    const check = (await live.follow(id, ignore))!;

    const final = (said: string): string => JSON.stringify({ result: 'success', said });
    await bed.redis
      .multi()
      .hset(redisKeys.checkResults(id), { 'nyc-1': final('first'), 'fra-1': final('again') })
      .hset(redisKeys.check(id), { 'v:nyc-1': 1, 'v:fra-1': 2, v: 3, pending: 0, completedAt: Date.now() })
      .exec();
    await until(() => check.completion() !== undefined);

    expect(check.completion()?.states.map(({ probe, json }) => [probe, json])).toEqual([
      ['fra-1', final('again')],
      ['nyc-1', final('first')],
    ]);
    check.close();
  });

  it.concurrent('ends when the check was completed and removed before it was looked at', async () => {
    const id = await start();
    const channels = deafChannels();
    const live = createLiveChecks({ redis: bed.redis, channels, master: soleMaster, log: quiet });
    const { promise: changed, resolve } = Promise.withResolvers<void>();
    const check = await live.follow(id, resolve);
    await bed.redis.hset(redisKeys.check(id), 'completedAt', '1');
    await runScript(bed.redis, evictScript, checkKeys(id), ['It was removed.']);

    await changed;

    expect([check!.isGone(), check!.completion()]).toEqual([true, undefined]);
    expect(channels.listening.size).toBe(0);
    await expect(live.follow(id, ignore)).rejects.toThrow(CheckEvicted);
  });

  it.concurrent('tells when a check is kept no longer', async () => {
    const live = createLiveChecks({ redis: bed.redis, channels: deafChannels(), master: soleMaster, log: quiet });
    const id = await start();
    let told = 0;
    const check = (await live.follow(id, () => (told += 1)))!;

    await bed.redis.del(redisKeys.check(id), redisKeys.checkResults(id));
    await until(() => check.isGone());

    expect(told).toBe(1);
    check.close();
  });
});

describe('following a check while Redis is away', () => {
  const executable = findRedisServer(process.env['PATH'] ?? '')!;
  let dataFolder: string;
  let bed: CoreBed;
  let revived: RedisServer | undefined;

  beforeAll(async () => {
    dataFolder = mkdtempSync(join(tmpdir(), 'vantage-live-'));
    bed = await startCoreBed({ dataFolder, arguments: ['--appendfsync', 'always'] });
    await bed.addProbe('fra-1');
  });

  afterAll(async () => {
    await bed.stop();
    await revived?.stop();
    rmSync(dataFolder, { recursive: true });
  });

  it('goes on when it is back, with what happened meanwhile', async () => {
    const id = await startLongCheck(bed, ['fra-1']);
    const check = (await bed.core.live.follow(id, ignore))!;
    process.kill(bed.server.pid, 'SIGKILL');
    await bed.server.ended;
    await until(() => bed.core.rateLimitRedis.status !== 'ready');
    await expect(bed.core.live.follow('x'.repeat(22), ignore)).rejects.toMatchObject({ name: 'StoreUnavailable' });

    revived = await startRedisServer({ executable, dataFolder, port: bed.server.port });
    await report(bed.redis, 'fra-1', id, success('after'));
    await until(() => check.completion() !== undefined);

    expect(jsons(check)).toEqual([['fra-1', 'after']]);
    check.close();
  });
});
