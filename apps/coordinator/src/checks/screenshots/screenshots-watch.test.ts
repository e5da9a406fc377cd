import { redisKeys, type Screenshot } from '@vantage/contract';
import { noTracing } from '@vantage/telemetry';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { quiet, startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { photo } from '../../../test/photo.ts';
import { createRedisClock } from '../../redis/clock.ts';
import { createAcceptScreenshot } from './validate-screenshot.ts';
import { createCounters } from '../store/counters.ts';
import { createDeadlines } from '../store/deadlines.ts';
import { createCheckScreenshots } from './screenshots.ts';

let bed: CoreBed;
let beating: NodeJS.Timeout;
const probe = 'cam';

beforeAll(async () => {
  bed = await startCoreBed({}, { checkTypes: { photo } });
  await bed.addProbe(probe);
  const beat = (): Promise<void> =>
    bed.beat(probe, { capabilities: { types: ['photo'], ipv4: true, ipv6: true, screenshot: true } });
  await beat();
  beating = setInterval(() => void beat().catch(() => undefined), 2_000);
  await until(async () =>
    (await bed.core.knownProbes().catch(() => [])).some(({ heartbeat }) => heartbeat !== undefined),
  );
});

afterAll(async () => {
  clearInterval(beating);
  await bed.stop();
});

let id: string;
beforeEach(async () => {
  const params = { host: 'target.example', options: { budget: 120_000, screenshot: true } };
  id = await bed.start({ checkType: photo, params, probes: [probe] });
});

const outcome = async (): Promise<Screenshot | undefined> => (await bed.core.checks.screenshot(id))?.screenshot;

/** A watcher that sees no heartbeat of any probe, with a manual clock. */
function blindWatcher(): { readonly at: (ms: number) => Promise<void> } {
  let nowMs = 0;
  const { watch } = createCheckScreenshots({
    redis: bed.redis,
    queueRedis: bed.redis,
    clock: createRedisClock(),
    probes: async () => [],
    queues: {
      add: async () => undefined,
      removeWaiting: async () => [],
      forget: () => undefined,
      close: async () => undefined,
    },
    accept: createAcceptScreenshot(),
    quota: { note: async () => undefined },
    deadlines: createDeadlines(bed.redis),
    readers: { wait: () => false, tell: () => undefined },
    retentionMs: 3_600_000,
    counters: createCounters(),
    log: quiet,
    tracing: noTracing,
    nowMs: () => nowMs,
  });
  return {
    at: async (ms) => {
      nowMs = ms;
      await watch();
    },
  };
}

describe('the watch over those who take screenshots', () => {
  it('takes no probe for lost at its first looks: heartbeats may have expired while Redis was away', async () => {
    const watcher = blindWatcher();

    for (const ms of [0, 1_000, 2_000, 3_000]) await watcher.at(ms);

    expect(await outcome()).toEqual({ state: 'pending', probe, reason: null });
    await watcher.at(4_000);
    expect(await outcome()).toMatchObject({ state: 'given_up', reason: { code: 'probe_interrupted' } });
  });

  it('waits again after a time in which it could not look', async () => {
    const watcher = blindWatcher();
    await bed.redis.del(redisKeys.screenshots);
    for (const ms of [0, 4_000]) await watcher.at(ms);
    await bed.redis.zadd(redisKeys.screenshots, Date.now() + 120_000, `${id} ${probe}`);

    for (const ms of [20_000, 23_000]) await watcher.at(ms);

    expect(await outcome()).toMatchObject({ state: 'pending' });
    await watcher.at(24_000);
    expect(await outcome()).toMatchObject({ state: 'given_up' });
  });

  it('gives up an overdue screenshot: a coordinator of an older release ignores it', async () => {
    // The state that a coordinator of an older release leaves after it has handled a due check.
    await bed.redis.zrem(redisKeys.deadlines, id);
    const [seconds] = await bed.redis.time();
    await bed.redis.zadd(redisKeys.screenshots, Number(seconds) * 1_000 - 2_000, `${id} ${probe}`);

    await until(async () => (await outcome())?.state === 'given_up');

    expect(await outcome()).toMatchObject({ reason: { code: 'probe_timeout' } });
    await until(async () => (await bed.redis.zscore(redisKeys.screenshots, `${id} ${probe}`)) === null);
  });
});
