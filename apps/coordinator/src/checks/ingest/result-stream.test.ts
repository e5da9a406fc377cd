import { MAX_SCREENSHOT_BYTES, redisKeys } from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { startCoreBed, type CoreBed } from '../../../test/core-bed.ts';
import { claimIdle, readNew } from './result-stream.ts';

let bed: CoreBed;
const check = 'a'.repeat(22);
const large = Buffer.alloc(MAX_SCREENSHOT_BYTES + 1_000);

beforeAll(async () => {
  bed = await startCoreBed();
});

afterAll(() => bed.stop());

/** Writes screenshots for a probe without a record, whose stream no coordinator reads. */
async function write(probe: string, count: number, pictures: readonly Buffer[]): Promise<void> {
  const fields = pictures.flatMap((png) => ['png', png]);
  const entry = ['check', check, 'kind', 'screenshot', 'data', '{}', ...fields];
  for (let left = count; left > 0; left -= 1) await bed.redis.xadd(redisKeys.results(probe), '*', ...entry);
}

describe('the reading of a result stream', () => {
  it('needs one command and no error where the probe has written nothing, and reads what it writes then', async () => {
    // Loads the scripts, so that the commands counted below do not include a second attempt of an unknown script.
    await write('loading', 1, []);
    await readNew(bed.redis, 'loading', []);
    await claimIdle(bed.redis, 'loading', 0);
    const sent = jest.spyOn(bed.redis, 'sendCommand');
    const nothing = [await readNew(bed.redis, 'silent', []), await claimIdle(bed.redis, 'silent', 0)];
    const replies = await Promise.allSettled(sent.mock.results.map(({ value }) => value));
    sent.mockRestore();
    const created = await bed.redis.exists(redisKeys.results('silent'));
    await write('silent', 1, []);

    expect(nothing).toEqual([
      { entries: [], more: false },
      { entries: [], next: undefined },
    ]);
    expect(replies.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(created).toBe(0);
    expect((await readNew(bed.redis, 'silent', [])).entries).toHaveLength(1);
  });

  it('cuts a screenshot that is too large one byte above what it may be', async () => {
    await write('large', 1, [large]);

    const { entries } = await readNew(bed.redis, 'large', []);

    expect(entries[0]!.png).toHaveLength(MAX_SCREENSHOT_BYTES + 1);
  });

  it('brings one screenshot of an entry at most, whatever else it calls so', async () => {
    await write('several', 1, [large, large, large]);

    const { entries } = await readNew(bed.redis, 'several', []);

    expect(entries[0]!.png!.length).toBeLessThan(100_000);
  });

  it('ends where it has many bytes, and says that there is more', async () => {
    await write('many', 20, [large]);

    const read: number[] = [];
    for (let more = true; more;) {
      const reading = await readNew(bed.redis, 'many', []);
      read.push(reading.entries.length);
      more = reading.more;
    }

    expect(Math.max(...read)).toBeLessThanOrEqual(8);
    expect(read.reduce((sum, count) => sum + count, 0)).toBe(20);
  });

  it.each([
    ['long fields that are cut', ['data', 'x'.repeat(5_000_000)]],
    ['more fields than an entry has', Array.from({ length: 20_000 }, () => 'a')],
  ])('ends soon where entries have %s, which Redis has read by then', async (kind, fields) => {
    const probe = `costly-${kind.length}`;
    for (let left = 4; left > 0; left -= 1) await bed.redis.xadd(redisKeys.results(probe), '*', ...fields);

    const { entries, more } = await readNew(bed.redis, probe, []);

    expect([entries.length, more]).toEqual([1, true]);
  });

  it.each([
    ['the last id that there is, in an entry', '18446744073709551615-18446744073709551615', []],
    ['the last id, in an entry that it removed', '18446744073709551615-18446744073709551615', ['MAXLEN', '0']],
    ['an id of a later year', '99999999999999-0', []],
  ])('deletes the stream once it is empty if the agent wrote %s', async (_what, id, trim) => {
    const [key, other] = [redisKeys.results('forger'), ['check', check, 'kind', 'partial', 'data', '{}']];
    await bed.redis.call('XADD', key, ...trim, id, ...other);

    const forged = await readNew(bed.redis, 'forger', []);
    await readNew(
      bed.redis,
      'forger',
      forged.entries.map((entry) => entry.id),
    );
    const writtenId = await bed.redis.xadd(key, '*', ...other);
    const after = await readNew(bed.redis, 'forger', []);

    expect(after.entries.map((entry) => entry.id)).toEqual([writtenId]);
    expect(Number.parseInt(writtenId!, 10)).toBeLessThan(Date.now() + 60_000);
    await bed.redis.del(key);
  });

  it('keeps a stream of the future as long as another coordinator holds an entry of it', async () => {
    const [key, other] = [redisKeys.results('held'), ['check', check, 'kind', 'partial', 'data', '{}']];
    await bed.redis.xadd(key, '99999999999999-0', ...other);
    await readNew(bed.redis, 'held', []);

    await readNew(bed.redis, 'held', []);

    expect((await claimIdle(bed.redis, 'held', 0)).entries).toHaveLength(1);
  });

  it('takes over a few at a time', async () => {
    await write('claimed', 20, []);
    await readNew(bed.redis, 'claimed', []);

    const first = await claimIdle(bed.redis, 'claimed', 0);
    const second = await claimIdle(bed.redis, 'claimed', 0, first.next);

    expect([first.entries.length, second.entries.length]).toEqual([8, 8]);
    expect(new Set([...first.entries, ...second.entries].map(({ id }) => id)).size).toBe(16);
  });

  it('brings small entries in one go', async () => {
    await write('small', 30, []);

    const { entries, more } = await readNew(bed.redis, 'small', []);

    expect([entries.length, more]).toEqual([30, false]);
  });
});
