import type { Monitor } from '@vantage/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import { report, success } from '../../../test/check-steps.ts';
import { PATIENT_MS, startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { echo } from '../../../test/echo-type.ts';
import { putMonitor, removeMonitor } from '../../monitors/store/definition-records.ts';

const other = { ...echo, type: 'other' };

let bed: CoreBed;
let beating: NodeJS.Timeout;

beforeAll(async () => {
  bed = await startCoreBed({}, { longestQueueMs: 2_000, checkTypes: { echo, other } });
  for (const id of ['fra-1', 'nyc-1']) {
    await bed.addProbe(id);
  }
  const beat = (): void => {
    for (const id of ['fra-1', 'nyc-1']) {
      void bed.beat(id, { capabilities: { types: ['echo', 'other'], ipv4: true, ipv6: false, screenshot: false } });
    }
  };
  beat();
  beating = setInterval(beat, 2_000);
  await until(
    async () => Object.values(await bed.core.probes.list()).filter((one) => one.status === 'healthy').length === 2,
  );
});

afterAll(async () => {
  clearInterval(beating);
  await bed.stop();
});

async function fill(probes: readonly string[]): Promise<readonly string[]> {
  const ids: string[] = [];
  for (;;) {
    const creation = await bed.create({ probes, budget: 60_000 }).catch((error: unknown) => error as Error);
    if (Error.isError(creation)) {
      expect(creation).toMatchObject({ name: 'QueuesFull' });
      return ids;
    }
    if (creation.created) ids.push(creation.checkId);
  }
}

/** Takes all jobs out of the queue of a probe and ends them. @returns ids of their checks */
async function answerJobs(probe: string): Promise<readonly string[]> {
  const ids = (await bed.redis.lpop(`p:{${probe}}:jobs:wait`, 1_000)) ?? [];
  for (const id of ids) await report(bed.redis, probe, id, success('done'));
  return ids;
}

// Otherwise the jobs of one test would make the probes busy in the next. A tick in progress may add one meanwhile.
afterEach(async () => {
  const ids = new Set<string>();
  await until(async () => {
    for (const id of (await Promise.all(['fra-1', 'nyc-1'].map(answerJobs))).flat()) ids.add(id);
    return (await bed.core.knownProbes()).every(({ waiting }) => waiting === 0);
  });
  for (const id of ids) await bed.read(id, PATIENT_MS);
});

describe('a probe with more to do than it can end on time', () => {
  it('is given no more of that type until they have ended, but others, and other probes are chosen instead', async () => {
    const ids = await fill(['fra-1']);
    const jobs = await bed.redis.llen('p:{fra-1}:jobs:wait');

    const ofOtherType = await bed.create({ probes: ['fra-1'], checkType: other, budget: 60_000 });
    const elsewhere = await bed.create({ limit: 2, budget: 60_000 });
    await answerJobs('fra-1');
    await until(async () => (await bed.create({ probes: ['fra-1'] }).catch(() => undefined))?.created === true);

    expect(ids.length).toBeGreaterThan(0);
    // A refused check leaves no job in the queue.
    expect(jobs).toBe(ids.length);
    expect(ofOtherType).toMatchObject({ created: true });
    expect(elsewhere).toMatchObject({ created: true, probes: ['nyc-1'] });
  });

  it('has a result at once that says so if it is named, and the other named probes run the check', async () => {
    await fill(['fra-1']);

    const before = await bed.redis.llen('p:{fra-1}:jobs:wait');
    const creation = await bed.create({ probes: ['fra-1', 'nyc-1'] });
    const { status, results } = await bed.read(creation.created ? creation.checkId : '');

    expect(creation).toMatchObject({ created: true, probes: ['fra-1', 'nyc-1'], withoutJob: 1 });
    expect(status).toBe('pending');
    expect(results['fra-1']).toMatchObject({ result: 'error', error: { code: 'probe_busy', phase: 'dispatch' } });
    expect(results['nyc-1']).toEqual({ result: 'pending' });
    expect(await bed.redis.llen('p:{fra-1}:jobs:wait')).toBe(before);
  });

  it('is unmeasured in a monitor that names it, which runs from the others', async () => {
    await fill(['fra-1']);
    const request = { check: { everyMs: 300, probes: ['fra-1', 'nyc-1'] }, every: '10s' };
    await putMonitor(bed.redis, 'web', { owner: 'api', request }, Date.now());
    let probes: Monitor['probes'] = {};
    await until(async () => {
      await answerJobs('nyc-1');
      probes = (await bed.core.monitors.read('web'))?.probes ?? {};
      return probes['nyc-1']?.state === 'ok';
    });
    await removeMonitor(bed.redis, 'web', 'api');

    expect(probes['fra-1']).toMatchObject({ state: 'unmeasured', reason: expect.stringContaining('as many checks') });
  });

  it('makes for a refusal where no other can do it', async () => {
    await fill(['fra-1']);
    await fill(['nyc-1']);

    await expect(bed.create({ limit: 2 })).rejects.toMatchObject({ name: 'QueuesFull' });
  });
});
