import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { echo, report, startCoreBed, success, until, type CoreBed } from '../../../test/core-bed.ts';

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

describe('a probe with more to do than it can end on time', () => {
  it('is given no more of that type until they have ended, but others, and other probes are chosen instead', async () => {
    const ids = await fill(['fra-1']);
    const jobs = await bed.redis.llen('p:{fra-1}:jobs:wait');

    const ofOtherType = await bed.create({ probes: ['fra-1'], checkType: other, budget: 60_000 });
    const elsewhere = await bed.create({ limit: 2, budget: 60_000 });
    for (const id of ids) await report(bed.redis, 'fra-1', id, success('done'));
    await until(async () => (await bed.create({ probes: ['fra-1'] }).catch(() => undefined))?.created === true);

    expect(ids.length).toBeGreaterThan(0);
    // A refused check leaves no job in the queue.
    expect(jobs).toBe(ids.length);
    expect(ofOtherType).toMatchObject({ created: true });
    expect(elsewhere).toMatchObject({ created: true, probes: ['nyc-1'] });
  });

  it('makes for a refusal where no other can do it', async () => {
    await fill(['fra-1']);
    await fill(['nyc-1']);

    await expect(bed.create({ limit: 2 })).rejects.toMatchObject({ name: 'QueuesFull' });
  });
});
