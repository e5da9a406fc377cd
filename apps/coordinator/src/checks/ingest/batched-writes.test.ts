import { redisKeys } from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { readCheck } from '../store/records/check-records.ts';
import { writeCheck } from '../store/records/new-check.ts';
import type { CommitOutcome } from '../store/records/write-results.ts';
import { createDeadlines } from '../store/deadlines.ts';
import { createBatchedWrites, type WriteBatched } from './batched-writes.ts';

const retentionMs = 60_000;
const probes = Array.from({ length: 60 }, (_, index) => `sim-${index}`);
const check = { type: 'echo', host: 'h', createdAt: 1, deadlineAt: Date.now() + 3_600_000, probes };

let bed: CoreBed;
let settle: WriteBatched;
let drawn = 0;

beforeAll(async () => {
  bed = await startCoreBed();
  await bed.core.close();
  settle = createBatchedWrites({ redis: bed.redis, retentionMs, deadlines: createDeadlines(bed.redis) });
});

afterAll(async () => bed.stop());

async function begin(): Promise<string> {
  drawn += 1;
  const id = String(drawn).padStart(22, 'a');
  await writeCheck(bed.redis, { id, ...check }, retentionMs);
  return id;
}

const scriptRuns = async (): Promise<number> =>
  Number(/cmdstat_evalsha:calls=(\d+)/.exec(await bed.redis.info('commandstats'))?.[1] ?? 0);

const write = (id: string, names: readonly string[], writtenAt = 0): Promise<readonly CommitOutcome[]> =>
  Promise.all(names.map((probe) => settle({ check: id, probe, json: `{"of":"${probe}"}`, writtenAt })));

describe('results of a check that are there at the same time', () => {
  it('are written by few scripts, each in its place', async () => {
    await write(await begin(), ['sim-0']);
    const id = await begin();
    const before = await scriptRuns();

    const said = await write(id, probes);
    const runs = (await scriptRuns()) - before;
    const record = await readCheck(bed.redis, id);

    expect(new Set(said)).toEqual(new Set(['applied']));
    // A script writes 25 results at most.
    expect(runs).toBe(3);
    expect(probes.map((probe) => record?.finals.get(probe))).toEqual(probes.map((probe) => `{"of":"${probe}"}`));
    expect(record?.completedAt).not.toBeNull();
  });

  it('are announced one by one, each with another version', async () => {
    const id = await begin();
    const listener = bed.redis.duplicate();
    const heard: unknown[] = [];
    await listener.subscribe(redisKeys.checkEvents(id));
    listener.on('message', (_channel: string, text: string) => heard.push(JSON.parse(text)));

    await write(id, ['sim-2', 'sim-0', 'sim-1']);
    await until(() => heard.length === 3);
    const fields = await bed.redis.hmget(redisKeys.check(id), 'v', 'v:sim-2', 'v:sim-0', 'v:sim-1', 'pending');

    expect(heard).toEqual([
      { version: 1, probe: 'sim-2', kind: 'final' },
      { version: 2, probe: 'sim-0', kind: 'final' },
      { version: 3, probe: 'sim-1', kind: 'final' },
    ]);
    expect(fields).toEqual(['3', '1', '2', '3', '57']);
    listener.disconnect();
  });

  it('are judged one by one', async () => {
    const id = await begin();
    await write(id, ['sim-1']);

    expect(await write(id, ['sim-0', 'sim-1', 'other', 'sim-0'])).toEqual([
      'applied',
      'duplicate',
      'foreign',
      'duplicate',
    ]);
    expect(await bed.redis.hget(redisKeys.check(id), 'pending')).toBe('58');
  });

  it('are not mixed with those of other checks', async () => {
    const [one, other] = [await begin(), await begin()];
    await Promise.all([write(one, ['sim-0']), write(other, ['sim-0', 'sim-1']), write(one, ['sim-2'])]);

    expect(await bed.redis.hmget(redisKeys.check(one), 'v', 'v:sim-0', 'v:sim-1', 'v:sim-2')).toEqual([
      '2',
      '1',
      null,
      '2',
    ]);
    expect(await bed.redis.hmget(redisKeys.check(other), 'v', 'v:sim-0', 'v:sim-1')).toEqual(['2', '1', '2']);
  });

  it('fail together if Redis refuses them, and later ones do not', async () => {
    const id = await begin();
    await bed.redis.rename(redisKeys.checkResults(id), 'aside');
    await bed.redis.set(redisKeys.checkResults(id), 'no hash');
    const refused = await Promise.allSettled([write(id, ['sim-0']), write(id, ['sim-1'])]);
    await bed.redis.rename('aside', redisKeys.checkResults(id));

    expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await write(id, ['sim-0', 'sim-1'])).toEqual(['applied', 'applied']);
  });
});
