import { RESULT_GROUP, redisKeys } from '@vantage/contract';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { startCoreBed, type CoreBed } from '../../../test/core-bed.ts';
import { createAcknowledgements, type Acknowledgements } from './acknowledgements.ts';
import { readNew } from './result-stream.ts';

let bed: CoreBed;
let done: Acknowledgements;

const stream = redisKeys.results('lone-1');

beforeAll(async () => {
  bed = await startCoreBed();
});

// The probe has no record, so no coordinator reads its stream.
beforeEach(async () => {
  done = createAcknowledgements(bed.redis);
  await bed.redis.del(stream);
  await bed.redis.xgroup('CREATE', stream, RESULT_GROUP, '0', 'MKSTREAM');
});

afterEach(() => done.close());

afterAll(async () => bed.stop());

async function write(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await bed.redis.xadd(stream, '*', 'check', 'x'.repeat(22));
}

async function unacknowledged(): Promise<number> {
  const [count] = (await bed.redis.xpending(stream, RESULT_GROUP)) as [number];
  return count;
}

describe('acknowledgements', () => {
  it('go along with the next reading, which brings only what is new', async () => {
    await write(3);
    const { entries: first } = await readNew(bed.redis, 'lone-1', []);
    done.add(
      'lone-1',
      first.map(({ id }) => id),
    );
    await write(2);

    const { entries: second } = await done.alongWith('lone-1', (ids) => readNew(bed.redis, 'lone-1', ids));

    expect([first.length, second.length]).toEqual([3, 2]);
    expect(await unacknowledged()).toBe(2);
    expect(await bed.redis.xlen(stream)).toBe(2);
  });

  it('are sent without a read by a flush, and leave the stream', async () => {
    await write(1);
    const [entry] = (await readNew(bed.redis, 'lone-1', [])).entries;

    done.add('lone-1', [entry!.id]);
    expect(await unacknowledged()).toBe(1);
    await done.flush();

    expect([await unacknowledged(), await bed.redis.xlen(stream)]).toEqual([0, 0]);
  });

  it('are kept while the store does not take them', async () => {
    await write(1);
    const [entry] = (await readNew(bed.redis, 'lone-1', [])).entries;
    done.add('lone-1', [entry!.id]);
    const failing = done.alongWith('lone-1', async () => {
      throw new Error('Command timed out');
    });

    await expect(failing).rejects.toThrow('Command timed out');
    await done.flush('lone-1');

    expect(await unacknowledged()).toBe(0);
  });

  it('are not tried again where the stream is none any more', async () => {
    done.add('lone-1', ['1-1']);
    await bed.redis.set(stream, 'no stream');
    await done.flush('lone-1');

    const left = await done.alongWith('lone-1', async (ids) => ids);

    expect(left).toEqual([]);
  });

  it('are made at the close', async () => {
    await write(1);
    const [entry] = (await readNew(bed.redis, 'lone-1', [])).entries;
    done.add('lone-1', [entry!.id]);

    await done.close();

    expect(await unacknowledged()).toBe(0);
  });
});
