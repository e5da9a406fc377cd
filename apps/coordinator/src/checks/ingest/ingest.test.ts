import { setTimeout as sleep } from 'node:timers/promises';

import { redisKeys, type AnyCheckType, type Place } from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { echo } from '../../../test/echo-type.ts';
import { PATIENT_MS, startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { report, success } from '../../../test/check-steps.ts';
import { createCounters } from '../store/counters.ts';
import { createIngest, type IngestDependencies } from './ingest.ts';
import { claimEntriesScript } from './stream-scripts.ts';

let bed: CoreBed;
let beating: NodeJS.Timeout;
const probeIds = ['fra-1', 'nyc-1', 'sgp-1'];

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

/** Waits until all streams are empty: the entry of a result is removed after its commit was counted. */
async function untilCounted(): Promise<void> {
  await until(async () => {
    const left = await Promise.all(probeIds.map((probe) => bed.redis.xlen(redisKeys.results(probe))));
    return left.every((length) => length === 0);
  });
}

describe('results of probes', () => {
  it('complete the check when the last one is there, with places added', async () => {
    const id = await bed.start({ probes: ['fra-1', 'nyc-1'] });

    await report(bed.redis, 'fra-1', id, success('one'));
    await until(async () => (await bed.read(id)).results['fra-1']?.['result'] === 'success');
    const half = await bed.read(id);
    await report(bed.redis, 'nyc-1', id, success('two'));
    const whole = await bed.read(id, PATIENT_MS);

    expect(half.status).toBe('pending');
    expect(half.completedAt).toBeNull();
    expect(half.results['nyc-1']).toEqual({ result: 'pending' });
    expect(whole).toMatchObject({ testId: id, type: 'echo', host: 'Target.example', status: 'completed' });
    expect(whole.results['fra-1']).toEqual({ ...success('one'), country: 'Nowhere' });
    expect(whole.results['nyc-1']).toEqual({ ...success('two'), country: 'Nowhere' });
    expect(Date.parse(whole.completedAt!)).toBeGreaterThanOrEqual(Date.parse(whole.createdAt));
  });

  it.each([
    ['with a notification', true],
    ['without one', false],
  ])('that a restarted agent ends as interrupted keep what was shown of them, %s', async (_reason, isNotified) => {
    const id = await bed.start({ probes: ['fra-1'] });
    const startedAt = '2026-01-01T00:00:00.000Z';
    const error = { code: 'probe_interrupted', phase: 'exec', source: 'probe', message: 'It restarted.' };
    const interrupted = { result: 'error', rt: null, resolvedIp: null, error, startedAt: null, finishedAt: startedAt };

    const partial = { said: 'half', steps: [1, 2], resolvedIp: '192.0.2.1', startedAt };
    await report(bed.redis, 'fra-1', id, { said: 'quarter' }, { kind: 'partial', notify: false });
    await report(bed.redis, 'fra-1', id, partial, { kind: 'partial', notify: false });
    await report(bed.redis, 'fra-1', id, interrupted, { notify: isNotified });

    const { results } = await bed.read(id, PATIENT_MS);
    expect(results['fra-1']).toEqual({ ...interrupted, ...partial, country: 'Nowhere' });
  });

  it('that are not valid keep what was shown before them', async () => {
    const id = await bed.start({ probes: ['fra-1'] });

    await report(bed.redis, 'fra-1', id, { said: 'half' }, { kind: 'partial', notify: false });
    await report(bed.redis, 'fra-1', id, { ...success('x'), more: 1 });

    const { results } = await bed.read(id, PATIENT_MS);
    expect(results['fra-1']).toMatchObject({ result: 'error', error: { code: 'invalid_result' }, said: 'half' });
  });

  it('are found without a notification', async () => {
    const id = await bed.start({ probes: ['fra-1'] });

    await report(bed.redis, 'fra-1', id, success('found'), { notify: false });

    expect((await bed.read(id, PATIENT_MS)).results['fra-1']).toMatchObject({ said: 'found' });
  });

  it('count once: the first stands, whatever comes after it', async () => {
    const id = await bed.start({ probes: ['fra-1', 'nyc-1'] });
    await untilCounted();
    const before = { ...bed.core.counters };

    for (const said of ['first', 'second', 'third']) await report(bed.redis, 'fra-1', id, success(said));
    await report(bed.redis, 'fra-1', id, 'not even JSON');
    await until(() => bed.core.counters.resultsDuplicate >= before.resultsDuplicate + 3);

    expect((await bed.read(id)).results['fra-1']).toMatchObject({ said: 'first' });
    expect((await bed.read(id)).status).toBe('pending');
    expect(bed.core.counters.resultsApplied).toBe(before.resultsApplied + 1);
    expect(bed.core.counters.resultsInvalid).toBe(before.resultsInvalid);
    expect(await bed.redis.hget(redisKeys.check(id), 'pending')).toBe('1');
  });

  it('change nothing of a check that did not ask the probe', async () => {
    const id = await bed.start({ probes: ['fra-1'] });
    const before = bed.core.counters.resultsForeign;

    await report(bed.redis, 'sgp-1', id, success('forged'));
    await report(bed.redis, 'sgp-1', id, { said: 'forged' }, { kind: 'partial' });
    await until(() => bed.core.counters.resultsForeign > before);
    const check = await bed.read(id);

    expect(Object.keys(check.results)).toEqual(['fra-1']);
    expect(check.results['fra-1']).toEqual({ result: 'pending' });
  });

  it('change nothing when they name a check that does not exist, or are no result at all', async () => {
    const before = { ...bed.core.counters };

    await report(bed.redis, 'fra-1', 'A'.repeat(22), success('nowhere'));
    await report(bed.redis, 'fra-1', '../../probes', success('nowhere'));
    await report(bed.redis, 'fra-1', 'B'.repeat(22), success('odd'), { kind: 'other' });
    await bed.redis.xadd(redisKeys.results('fra-1'), '*', 'only', 'this');
    await until(() => bed.core.counters.entriesMalformed >= before.entriesMalformed + 3);
    await until(() => bed.core.counters.resultsUnknown > before.resultsUnknown);

    expect(await bed.redis.exists(redisKeys.check('A'.repeat(22)))).toBe(0);
    expect(await bed.redis.exists(redisKeys.checkResults('A'.repeat(22)))).toBe(0);
  });

  it.each([
    ['the schema forbids a field of it', { ...success('x'), more: 1 }],
    ['a field of the wrong type', { ...success('x'), rt: 'fast' }],
    ['a field that a success needs is missing', { ...success('x'), said: undefined }],
    ['the outcome is none', { ...success('x'), result: 'pending' }],
    ['the code of the error is not in the list', { ...success('x'), result: 'error', error: { code: 'mine' } }],
    ['a prototype is hidden in it', `{"__proto__":{"result":"success"},${JSON.stringify(success('x')).slice(1)}`],
    ['it is no object', '[]'],
    ['it is no JSON', '{'],
    ['it is larger than 64 KiB', success('x'.repeat(66_000))],
  ])('become invalid_result when %s', async (_reason, data) => {
    const id = await bed.start({ probes: ['fra-1'] });

    await report(bed.redis, 'fra-1', id, data);
    await report(bed.redis, 'fra-1', id, success('too late to repair it'));
    const check = await bed.read(id, PATIENT_MS);

    expect(check.status).toBe('completed');
    expect(check.results['fra-1']).toMatchObject({
      result: 'error',
      rt: null,
      resolvedIp: null,
      startedAt: null,
      error: { code: 'invalid_result', phase: 'dispatch', source: 'probe' },
    });
    expect(check.results['fra-1']).not.toHaveProperty('said');
  });

  it('count after the clock of Redis was stepped back, though the ids of the stream go on from the future', async () => {
    const future = `${Date.now() + 3_600_000}-0`;
    await bed.redis.xadd(redisKeys.results('sgp-1'), future, 'check', 'none', 'kind', 'final', 'data', '{}');
    const id = await bed.start({ probes: ['sgp-1'] });

    await report(bed.redis, 'sgp-1', id, success('in time'));

    expect((await bed.read(id, PATIENT_MS)).results['sgp-1']).toMatchObject({ result: 'success', said: 'in time' });
  });

  it('leave nothing in the stream of the probe', async () => {
    const id = await bed.start({ probes: ['fra-1'] });

    await report(bed.redis, 'fra-1', id, { steps: [1] }, { kind: 'partial' });
    await report(bed.redis, 'fra-1', id, success('done'));
    await bed.read(id, PATIENT_MS);

    await until(async () => (await bed.redis.xlen(redisKeys.results('fra-1'))) === 0);
    const pending = (await bed.redis.xpending(redisKeys.results('fra-1'), 'coordinators')) as [number];
    expect(pending[0]).toBe(0);
  });

  it('are taken in from other probes while one has broken its own keys', async () => {
    const before = bed.core.counters.streamFaults;
    await bed.redis.del(redisKeys.results('sgp-1'));
    await bed.redis.set(redisKeys.results('sgp-1'), 'no stream');
    const id = await bed.start({ probes: ['fra-1'] });

    await report(bed.redis, 'fra-1', id, success('fine'), { notify: false });

    expect((await bed.read(id, PATIENT_MS)).results['fra-1']).toMatchObject({ said: 'fine' });
    await until(() => bed.core.counters.streamFaults > before);
    await bed.redis.del(redisKeys.results('sgp-1'));
  });
});

describe('partial results', () => {
  const partial = { kind: 'partial' };

  it('are shown while the probe is pending, and replaced by the final result', async () => {
    const id = await bed.start({ probes: ['fra-1', 'nyc-1'] });

    await report(bed.redis, 'fra-1', id, { said: 'so far', steps: [1] }, partial);
    await until(async () => 'said' in (await bed.read(id)).results['fra-1']!);
    const shown = (await bed.read(id)).results['fra-1'];
    await report(bed.redis, 'fra-1', id, success('all'));
    await until(async () => (await bed.read(id)).results['fra-1']?.['result'] === 'success');

    expect(shown).toEqual({ result: 'pending', said: 'so far', steps: [1], country: 'Nowhere' });
    expect((await bed.read(id)).results['fra-1']).toEqual({ ...success('all'), country: 'Nowhere' });
    expect(await bed.redis.hlen(redisKeys.checkPartials(id))).toBe(0);
  });

  it('are dropped when they break the schema, come after the final result, or are older than the one kept', async () => {
    const id = await bed.start({ probes: ['fra-1', 'nyc-1'] });
    const before = bed.core.counters.partialsDropped;

    await report(bed.redis, 'nyc-1', id, { said: 'newest' }, partial);
    await until(async () => 'said' in (await bed.read(id)).results['nyc-1']!);
    // Simulates that this coordinator is slow with an older entry: a second one has stored a newer one meanwhile.
    await bed.redis.hset(redisKeys.checkPartials(id), 'nyc-1', `9 99999999999999-0 {"said":"from the future"}`);
    await report(bed.redis, 'nyc-1', id, { said: 'older' }, partial);
    await report(bed.redis, 'fra-1', id, { said: 1 }, partial);
    await report(bed.redis, 'fra-1', id, { result: 'success' }, partial);
    await report(bed.redis, 'fra-1', id, success('final'));
    await report(bed.redis, 'fra-1', id, { said: 'after the end' }, partial);
    await until(() => bed.core.counters.partialsDropped >= before + 4);
    await until(async () => (await bed.read(id)).results['fra-1']?.['result'] === 'success');
    const check = await bed.read(id);

    expect(check.results['nyc-1']).toEqual({ result: 'pending', said: 'from the future' });
    expect(check.results['fra-1']).toMatchObject({ result: 'success', said: 'final' });
  });
});

describe('two coordinators on one Redis', () => {
  it('take each result in once between them', async () => {
    const other = bed.startCore();
    await until(async () => (await other.ready()).healthyProbes === 3);
    const probes = ['fra-1', 'nyc-1', 'sgp-1'];
    const sum = (name: 'resultsApplied' | 'resultsDuplicate' | 'partialsApplied'): number =>
      bed.core.counters[name] + other.counters[name];
    await untilCounted();
    const before = { applied: sum('resultsApplied'), duplicate: sum('resultsDuplicate') };
    const ids = await Promise.all(Array.from({ length: 20 }, () => bed.start({ probes })));

    await Promise.all(
      ids.flatMap((id) => probes.map((probe) => report(bed.redis, probe, id, success(`${probe} ${id}`)))),
    );
    const checks = await Promise.all(ids.map((id) => bed.read(id, PATIENT_MS)));

    for (const check of checks) {
      expect(check.status).toBe('completed');
      for (const probe of probes) {
        expect(check.results[probe]).toMatchObject({ result: 'success', said: `${probe} ${check.testId}` });
      }
    }
    await untilCounted();
    expect(sum('resultsApplied') - before.applied).toBe(60);
    // If the machine stalls for longer than the claim time, the other coordinator takes entries over.
    expect(sum('resultsDuplicate') - before.duplicate).toBeLessThan(60);
    await other.close();
  });

  it('take over what one of them read and did not finish', async () => {
    const id = await bed.start({ probes: ['fra-1'] });
    const key = redisKeys.results('fra-1');
    // Simulates a coordinator that died after the read: no other one could read the entry in the meantime.
    await bed.redis
      .multi()
      .xadd(key, '*', 'check', id, 'kind', 'final', 'data', JSON.stringify(success('left behind')))
      .xreadgroup('GROUP', 'coordinators', 'dead', 'COUNT', 10, 'STREAMS', key, '>')
      .exec();

    const check = await bed.read(id, PATIENT_MS);

    expect(check.results['fra-1']).toMatchObject({ result: 'success', said: 'left behind' });
  });
});

describe('a registry that the operator wants asked', () => {
  const checkType: AnyCheckType = { ...echo, registeredAddress: ({ said }) => said as string };

  it('is asked about the address of a final result, and waited for before places are added', async () => {
    let country = 'not asked yet';
    const asked: string[] = [];
    const registered = await startCoreBed(
      {},
      {
        checkTypes: { echo: checkType },
        lookUpPlace: () => ({ country }) as Place,
        preparePlace: async (address) => {
          asked.push(address);
          await sleep(50);
          country = 'asked';
        },
      },
    );
    await registered.addProbe('fra-1');
    await registered.keepAlive('fra-1');
    await until(async () => (await registered.core.ready()).healthyProbes === 1);
    const id = await registered.start({ probes: ['fra-1'], checkType });

    await report(registered.redis, 'fra-1', id, { said: '192.0.2.2' }, { kind: 'partial' });
    await report(registered.redis, 'fra-1', id, success('192.0.2.1'));
    const check = await registered.read(id, PATIENT_MS);
    await registered.stop();

    expect(asked).toEqual(['192.0.2.1']);
    expect(check.results['fra-1']).toMatchObject({ result: 'success', country: 'asked' });
  });

  it('does not hold a result up that is no JSON, nor for more than a second', async () => {
    const registered = await startCoreBed(
      {},
      {
        checkTypes: { echo: checkType },
        preparePlace: () => new Promise(() => undefined),
      },
    );
    await registered.addProbe('fra-1');
    await registered.keepAlive('fra-1');
    await until(async () => (await registered.core.ready()).healthyProbes === 1);
    const [first, second] = [
      await registered.start({ probes: ['fra-1'], checkType }),
      await registered.start({ probes: ['fra-1'], checkType }),
    ];

    await report(registered.redis, 'fra-1', first, '{');
    await report(registered.redis, 'fra-1', second, success('192.0.2.1'));
    const checks = await Promise.all([first, second].map((id) => registered.read(id, PATIENT_MS)));
    await registered.stop();

    expect(checks.map(({ results }) => results['fra-1']!['result'])).toEqual(['error', 'success']);
  });
});

describe('a probe that writes without end', () => {
  it('delays no reader, and is read on', async () => {
    const counters = createCounters();
    const entry = [Buffer.from('1-0'), [Buffer.from('only'), Buffer.from('this')]];
    // The stream never ends.
    const callBuffer = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve, [[entry], 1]));
    const redis = { status: 'ready', callBuffer, evalsha: () => Promise.resolve() };
    const types = { ofCheck: () => Promise.resolve(undefined) };
    const parts: Partial<Record<keyof IngestDependencies, unknown>> = {
      redis,
      types,
      counters,
      gate: { isOpen: () => true },
    };
    const ingest = createIngest(parts as unknown as IngestDependencies);

    await ingest.drain('flood');
    const taken = counters.entriesMalformed;
    await until(() => counters.entriesMalformed > taken);
    await ingest.close();

    expect(taken).toBeGreaterThan(0);
  });
});

describe('entries that another coordinator holds', () => {
  it('are claimed after the shortest of the times that concurrent calls name', async () => {
    const claimedAfter: unknown[] = [];
    const callBuffer = async (_command: string, sha: string, ...values: readonly string[]): Promise<unknown> => {
      if (sha !== claimEntriesScript.sha) return [[], 0];
      claimedAfter.push(values[4]);
      return ['0-0', []];
    };
    const parts: Partial<Record<keyof IngestDependencies, unknown>> = {
      redis: { status: 'ready', callBuffer },
      gate: { isOpen: () => true },
    };
    const ingest = createIngest(parts as unknown as IngestDependencies);

    // Of concurrent calls the shortest claim time applies: that of a deadline, not that of the poll of all streams.
    await Promise.all([ingest.drain('held'), ingest.drain('held', 500), ingest.drain('held', 3_000)]);
    await ingest.close();

    expect(claimedAfter).toEqual(['500']);
  });
});
