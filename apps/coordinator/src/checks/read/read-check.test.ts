import { once } from 'node:events';

import { redisKeys } from '@vantage/contract';
import { openSubscriber } from '@vantage/redis-connections';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { openChannels } from '../../redis/channels.ts';
import { runScript } from '../../redis/scripts.ts';
import { checkKeys } from '../store/records/check-records.ts';
import { soleMaster } from '../../redis/server-state/master-watch.ts';
import { createReads } from './read-check.ts';
import { evictScript } from '../store/result-budget-scripts.ts';
import { echo } from '../../../test/echo-type.ts';
import { PATIENT_MS, quiet, startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { report, startLongCheck, success } from '../../../test/check-steps.ts';

let bed: CoreBed;

beforeAll(async () => {
  bed = await startCoreBed();
  await bed.addProbe('fra-1');
  await bed.beat('fra-1');
});

afterAll(async () => bed.stop());

const never = new AbortController().signal;

describe('reading a check', () => {
  it.each([
    ['an unknown id', 'x'.repeat(22)],
    ['an id that is none', '../../x'],
    ['the key of something else', '{a}:r'],
    ['nothing', ''],
  ])('finds nothing for %s', async (_reason, id) => {
    expect(await bed.core.checks.read(id, 5_000, never)).toBeUndefined();
  });

  it('answers at once when it need not wait', async () => {
    const id = await startLongCheck(bed, ['fra-1']);

    expect((await bed.read(id, 0)).status).toBe('pending');
  });

  it('holds the answer until the check is completed', async () => {
    const id = await startLongCheck(bed, ['fra-1']);
    const reading = bed.read(id, PATIENT_MS);
    // The reply to this read comes after that to the first read of `reading`, which now waits.
    expect((await bed.read(id)).status).toBe('pending');

    await report(bed.redis, 'fra-1', id, success('now'));

    expect(await reading).toMatchObject({ status: 'completed', results: { 'fra-1': { said: 'now' } } });
  });

  it('holds the answer until another coordinator has completed the check, and forgets who waited', async () => {
    const channels = openChannels(openSubscriber({ url: bed.server.url, name: 'test', log: quiet }), () => undefined);
    await once(channels.connection, 'ready');
    const reads = createReads(bed.redis, channels, soleMaster);
    const id = await startLongCheck(bed, ['fra-1']);
    const reading = reads.read(id, PATIENT_MS, never);

    expect(reads.wait(id)).toBe(true);
    await report(bed.redis, 'fra-1', id, success('there'));

    expect(await reading).toMatchObject({ status: 'completed', results: { 'fra-1': { said: 'there' } } });
    expect(reads.wait(id)).toBe(false);
    channels.stop();
    channels.connection.disconnect();
  });

  it('answers with what there is when the time is up', async () => {
    const id = await startLongCheck(bed, ['fra-1']);
    await report(bed.redis, 'fra-1', id, { said: 'half' }, { kind: 'partial' });
    await until(async () => 'said' in (await bed.read(id)).results['fra-1']!);

    const check = await bed.read(id, 400);

    expect(check.status).toBe('pending');
    expect(check.results['fra-1']).toMatchObject({ result: 'pending', said: 'half' });
  });

  it('ends the wait when the check was completed and removed before it was looked at', async () => {
    const id = await startLongCheck(bed, ['fra-1']);
    const reading = bed.read(id, 3_600_000);
    const refused = expect(reading).rejects.toMatchObject({ name: 'CheckEvicted', message: 'It was removed.' });
    expect((await bed.read(id)).status).toBe('pending');
    await bed.redis.hset(redisKeys.check(id), 'completedAt', '1');
    await runScript(bed.redis, evictScript, checkKeys(id), ['It was removed.']);

    await refused;
  });

  it('ends the wait when the caller goes away', async () => {
    const id = await startLongCheck(bed, ['fra-1']);
    const caller = new AbortController();
    const reading = bed.core.checks.read(id, 60_000, caller.signal);

    caller.abort();

    expect((await reading)?.status).toBe('pending');
  });

  it('lets many wait for one check', async () => {
    const id = await startLongCheck(bed, ['fra-1']);
    const readings = Array.from({ length: 50 }, () => bed.read(id, PATIENT_MS));

    await report(bed.redis, 'fra-1', id, success('for all'));

    for (const check of await Promise.all(readings)) expect(check.status).toBe('completed');
  });

  it('keeps the names of probes out of the prototype', async () => {
    const check = await bed.read(await startLongCheck(bed, ['fra-1']));

    expect(Object.getPrototypeOf(check.results)).toBeNull();
    expect(Object.keys(check.results)).toEqual(['fra-1']);
  });
});

describe('the time for which a check is kept', () => {
  it('is set on every key of it, pending or completed', async () => {
    const id = await startLongCheck(bed, ['fra-1']);
    await report(bed.redis, 'fra-1', id, { said: 'half' }, { kind: 'partial' });
    await until(async () => 'said' in (await bed.read(id)).results['fra-1']!);
    const pending = await lifetimes(id);
    await report(bed.redis, 'fra-1', id, success('done'));
    await bed.read(id, PATIENT_MS);
    const completed = await lifetimes(id);

    expect(pending.map(([key]) => key)).toEqual([
      ...[redisKeys.check(id), redisKeys.checkPartials(id), redisKeys.checkResults(id)].toSorted(),
      `p:{fra-1}:jobs:${id}`,
    ]);
    for (const [key, ttlMs] of pending.filter(([key]) => key.startsWith('check:'))) {
      expect([key, ttlMs > 3_600_000 && ttlMs <= 3_725_000]).toEqual([key, true]);
    }
    for (const [key, ttlMs] of completed.filter(([key]) => key.startsWith('check:'))) {
      expect([key, ttlMs > 3_500_000 && ttlMs <= 3_600_000]).toEqual([key, true]);
    }
  });

  it('leaves no key of a check behind without an end, and none at all when it is over', async () => {
    // The coordinator that ends a check sets how long its keys live; only one may be running here.
    await bed.core.close();
    const brief = bed.startCore({ retentionSeconds: 5 });
    await until(async () => {
      await bed.beat('fra-1');
      return (await brief.ready()).healthyProbes === 1;
    });
    const params = { host: 'target.example', options: { budget: 400 } };
    const request = { checkType: echo, submittedHost: 'target.example', params, probes: ['fra-1'], limit: 1 };
    const creation = await brief.checks.create(request);
    if (!creation.created) throw new Error(JSON.stringify(creation));
    const id = creation.checkId;

    await until(async () => (await brief.checks.read(id, 0, never))?.status === 'completed');
    await until(async () => (await brief.checks.read(id, 0, never)) === undefined);
    await until(async () => (await bed.redis.keys(`*${id}*`)).length === 0);

    expect(await bed.redis.zscore(redisKeys.deadlines, id)).toBeNull();
    await brief.close();
  });
});

async function lifetimes(id: string): Promise<(readonly [string, number])[]> {
  const keys = (await bed.redis.keys(`*${id}*`)).toSorted();
  return Promise.all(keys.map(async (key) => [key, await bed.redis.pttl(key)] as const));
}
