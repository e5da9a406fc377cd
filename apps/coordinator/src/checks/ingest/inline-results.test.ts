import { redisKeys, encodeNotification } from '@vantage/contract';
import { noTracing } from '@vantage/telemetry';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { echo } from '../../../test/echo-type.ts';
import { nowhere, PATIENT_MS, quiet, startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { report, success } from '../../../test/check-steps.ts';
import { createCounters } from '../store/counters.ts';
import { createDeadlines } from '../store/deadlines.ts';
import { resultValidators } from './result-validators.ts';
import { createInlineResults } from './inline-results.ts';

let bed: CoreBed;

beforeAll(async () => {
  bed = await startCoreBed();
  for (const probe of ['fra-1', 'nyc-1']) {
    await bed.addProbe(probe);
    await bed.keepAlive(probe);
  }
  await until(async () => (await bed.core.ready()).healthyProbes === 2);
});

afterAll(() => bed.stop());

async function notify(probe: string, check: string, result: object): Promise<void> {
  await bed.redis.publish(
    redisKeys.resultNotification(probe),
    encodeNotification({ check, data: JSON.stringify(result) }),
  );
}

const sizeOf = (probe: string): Promise<number> => bed.redis.xlen(redisKeys.results(probe));

describe('a result that comes inside a notification', () => {
  it('is committed from the notification alone, with places added', async () => {
    const id = await bed.start({ probes: ['fra-1'] });

    await notify('fra-1', id, success('ahead'));
    const check = await bed.read(id, PATIENT_MS);

    expect(check.status).toBe('completed');
    expect(check.results['fra-1']).toEqual({ ...success('ahead'), country: 'Nowhere' });
    // A result is committed before it is counted.
    await until(() => bed.core.counters.resultsApplied === 1);
  });

  it('counts once with its entry, which is worked off', async () => {
    const id = await bed.start({ probes: ['fra-1', 'nyc-1'] });
    const before = { ...bed.core.counters };

    await report(bed.redis, 'fra-1', id, success('both'), { notify: false });
    await notify('fra-1', id, success('both'));
    await until(async () => (await sizeOf('fra-1')) === 0);

    expect((await bed.read(id)).results['fra-1']).toMatchObject({ said: 'both' });
    expect(bed.core.counters.resultsApplied).toBe(before.resultsApplied + 1);
    expect(await bed.redis.hget(redisKeys.check(id), 'pending')).toBe('1');
  });

  it('can be repeated without harm', async () => {
    const id = await bed.start({ probes: ['fra-1', 'nyc-1'] });
    const before = bed.core.counters.resultsApplied;

    await notify('fra-1', id, success('first'));
    await notify('fra-1', id, success('second'));
    await report(bed.redis, 'fra-1', id, success('third'));
    await until(async () => (await sizeOf('fra-1')) === 0);

    expect((await bed.read(id)).results['fra-1']).toMatchObject({ said: 'first' });
    expect(bed.core.counters.resultsApplied).toBe(before + 1);
  });

  it('is left to its entry where it breaks the schema, and that says why', async () => {
    const id = await bed.start({ probes: ['fra-1'] });

    await notify('fra-1', id, { ...success('odd'), more: 1 });
    await report(bed.redis, 'fra-1', id, { ...success('odd'), more: 1 }, { notify: false });

    expect((await bed.read(id, PATIENT_MS)).results['fra-1']).toMatchObject({ error: { code: 'invalid_result' } });
  });

  it('changes nothing of a check that did not ask the probe', async () => {
    const id = await bed.start({ probes: ['fra-1'] });

    await notify('nyc-1', id, success('forged'));
    await notify('fra-1', id, success('own'));
    const check = await bed.read(id, PATIENT_MS);

    expect(Object.keys(check.results)).toEqual(['fra-1']);
    expect(check.results['fra-1']).toMatchObject({ said: 'own' });
  });

  it.each([
    ['is committed up to the deadline', 0, true],
    ['is not committed after it, by the clock of Redis, and is left to its entry', 1, false],
  ])('%s', async (_when, lateMs, isShown) => {
    const id = await bed.start({ probes: ['fra-1'] });
    // In the past: a time after a deadline in the future would itself be in the future, and count as in time.
    const deadlineAt = Number(await bed.redis.hget(redisKeys.check(id), 'createdAt')) - 60_000;
    await bed.redis.hset(redisKeys.check(id), { deadlineAt });
    const inline = createInlineResults({
      redis: bed.redis,
      clock: { now: async () => deadlineAt + lateMs },
      isGrace: () => false,
      log: quiet,
      validatorsOf: resultValidators,
      lookUpPlace: nowhere,
      retentionMs: 60_000,
      deadlines: createDeadlines(bed.redis),
      readers: { wait: () => false, tell: () => undefined },
      counters: createCounters(),
      tracing: noTracing,
    });

    const committing = inline.commit('fra-1', { check: id, data: JSON.stringify(success('ahead')) }, echo);

    expect(await committing).toBe(isShown);
    expect(await inline.wasCommitted('fra-1', id)).toBe(isShown);
    expect((await bed.read(id)).status).toBe(isShown ? 'completed' : 'pending');
  });

  it('of a check that another coordinator gave out is found in the stream', async () => {
    const id = await bed.start({ probes: ['fra-1'] });
    await bed.core.close();
    const other = bed.startCore();
    await other.started;

    await report(bed.redis, 'fra-1', id, success('found'), { notify: false });
    await notify('fra-1', id, success('found'));
    const check = await other.checks.read(id, PATIENT_MS, new AbortController().signal);

    expect(check?.results['fra-1']).toMatchObject({ said: 'found' });
  });
});
