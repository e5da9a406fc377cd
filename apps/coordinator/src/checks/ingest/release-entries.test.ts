import { MAX_RESULT_BYTES, RESULT_GROUP, redisKeys } from '@vantage/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { startCoreBed, type CoreBed } from '../../../test/core-bed.ts';
import { releaseEntries } from './release-entries.ts';
import { claimIdle, readNew } from './result-stream.ts';

let bed: CoreBed;
const stream = redisKeys.results('lone-1');
const [first, second, other] = ['a', 'b', 'c'].map((letter) => letter.repeat(22)) as [string, string, string];
const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

beforeAll(async () => {
  bed = await startCoreBed();
});

afterAll(() => bed.stop());

// The probe has no record, so no coordinator reads its stream.
beforeEach(() => bed.redis.del(stream));

function write(check: string, kind = 'final', data = '{}', more: readonly string[] = [], id = '*'): Promise<unknown> {
  return bed.redis.xadd(stream, id, 'check', check, 'kind', kind, 'data', data, ...more);
}

async function left(): Promise<readonly (string | undefined)[]> {
  return (await bed.redis.xrange(stream, '-', '+')).map(([, fields]) => fields[1]);
}

const release = (checks: readonly string[]): Promise<ReadonlySet<string>> =>
  releaseEntries(bed.redis, new Map([['lone-1', checks]]));

describe('the release of entries whose results are committed', () => {
  it('deletes them in any order, without a reading of the group', async () => {
    await bed.redis.xgroup('CREATE', stream, RESULT_GROUP, '0', 'MKSTREAM');
    await write(first, 'final', '{}', ['traceparent', trace]);
    await write(second);

    expect(await release([second, first])).toEqual(new Set());

    expect(await left()).toEqual([]);
    expect(await bed.redis.xinfo('GROUPS', stream)).toEqual([expect.arrayContaining(['last-delivered-id', '0-0'])]);
  });

  it('leaves results that came after them', async () => {
    for (const check of [first, other]) await write(check);

    expect(await release([first])).toEqual(new Set());

    expect(await left()).toEqual([other]);
  });

  it('does nothing if another coordinator has removed them', async () => {
    expect(await release([first])).toEqual(new Set());
  });

  it('leaves nothing to claim if another coordinator has read them', async () => {
    await write(first);
    await readNew(bed.redis, 'lone-1', []);

    await release([first]);

    expect((await claimIdle(bed.redis, 'lone-1', 0)).entries).toEqual([]);
    expect(((await bed.redis.xpending(stream, RESULT_GROUP)) as [number])[0]).toBe(0);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['of another check', () => write(other)],
    ['that is partial', () => write(second, 'partial')],
    ['that is too long', () => write(second, 'final', 'x'.repeat(MAX_RESULT_BYTES + 1))],
    ['with a field that results have not', () => write(second, 'final', '{}', ['more', 'x'])],
    ['with more fields than a result', () => write(second, 'final', '{}', ['traceparent', trace, 'more', 'x'])],
    ['with its fields in another order', () => bed.redis.xadd(stream, '*', 'kind', 'final', 'check', second)],
    ['of a single field', () => bed.redis.xadd(stream, '*', 'check', second)],
  ])('stops at an entry %s, which must be read', async (_what, writeOdd) => {
    await write(first);
    await writeOdd();
    await write(second);

    expect(await release([first, second])).toEqual(new Set(['lone-1']));

    expect(await left()).toHaveLength(2);
  });

  it('lets a stream with an id of the future be read, which deletes it', async () => {
    await write(first, 'final', '{}', [], '99999999999999-0');

    expect(await release([first])).toEqual(new Set(['lone-1']));
    await readNew(bed.redis, 'lone-1', []);

    expect(await bed.redis.exists(stream)).toBe(0);
  });

  it('serves other probes if one has broken its stream, or has more than it looks at', async () => {
    await bed.redis.set(redisKeys.results('broken-1'), 'no stream');
    await write(first);
    const many = Array.from({ length: 65 }, (_, index) => String(index).padStart(22, '0'));

    const unread = await releaseEntries(
      bed.redis,
      new Map<string, readonly string[]>([
        ['broken-1', [first]],
        ['busy-1', many],
        ['lone-1', [first]],
        ...Array.from({ length: 60 }, (_, index) => [`more-${index}`, [first]] as const),
      ]),
    );

    expect(unread).toEqual(new Set(['broken-1', 'busy-1']));
    expect(await left()).toEqual([]);
    await bed.redis.del(redisKeys.results('broken-1'));
  });
});
