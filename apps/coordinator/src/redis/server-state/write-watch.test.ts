import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { redisKeys } from '@vantage/contract';

import { startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { missing } from '../../core.ts';

let bed: CoreBed;

beforeAll(async () => {
  bed = await startCoreBed();
  await bed.addProbe('fra-1');
  await bed.keepAlive('fra-1');
  await until(async () => (await bed.core.ready()).healthyProbes === 1);
});

afterAll(async () => bed.stop());

describe('a Redis that answers but refuses writes', () => {
  it.each([
    ['full memory', { on: ['maxmemory', '1'], off: ['maxmemory', '0'] }, /^OOM /],
    ['too few replicas', { on: ['min-replicas-to-write', '1'], off: ['min-replicas-to-write', '0'] }, /^NOREPLICAS /],
  ])('is reported for %s, until it takes them again', async (_reason, { on, off }, words) => {
    await bed.redis.config('SET', on[0]!, on[1]!);
    await until(async () => (await bed.core.ready()).writeRefusal !== undefined);
    const { writeRefusal } = await bed.core.ready();
    await until(async () => (await bed.core.probes.list())['fra-1']!.status === 'degraded');
    const { reason } = (await bed.core.probes.list())['fra-1']!;
    const refused = await bed.start().catch((error: unknown) => error);

    await bed.redis.config('SET', off[0]!, off[1]!);
    await until(async () => (await bed.core.ready()).healthyProbes === 1);

    expect(writeRefusal).toMatch(words);
    expect(reason).toContain('Redis refuses writes');
    expect(refused).toMatchObject({ name: 'WritesRefused' });
    expect((await bed.core.ready()).writeRefusal).toBeUndefined();
    expect(await bed.start()).toHaveLength(22);
  });
});

const nameOf = (error: unknown): string => (Error.isError(error) ? error.name : String(error));

describe('a Redis that was emptied', () => {
  it('is reported until probes are registered again', async () => {
    await until(async () => (await bed.core.ready()).healthyProbes === 1);
    await bed.redis.flushall();

    await until(async () => (await bed.core.ready()).isEmptied);
    const refused = await Promise.all(
      [bed.start(), bed.start({ probes: ['fra-1'] })].map((start) => start.catch(nameOf)),
    );
    await bed.addProbe('fra-1');
    await until(async () => (await bed.core.ready()).healthyProbes === 1);

    expect(refused).toEqual(['RecordsLost', 'RecordsLost']);
    expect((await bed.core.ready()).isEmptied).toBe(false);
    expect(await bed.start()).toHaveLength(22);
  });

  it.each([
    ['its data was lost', () => bed.redis.flushall()],
    [
      'the last probe was removed',
      () => bed.redis.multi().srem(redisKeys.probeIds, 'fra-1').del(redisKeys.probeRecord('fra-1')).exec(),
    ],
  ])('is reported in words that are true if %s', async (_why, empty) => {
    await bed.addProbe('fra-1');
    await until(async () => (await bed.core.ready()).healthyProbes === 1);
    await empty();
    await until(async () => (await bed.core.ready()).isEmptied);

    expect(await missing(bed.core, false)).toEqual([
      'Redis has the record of no probe any more: add a probe, or restore the data of Redis if it was lost.',
      'No probe is healthy.',
    ]);
  });
});
