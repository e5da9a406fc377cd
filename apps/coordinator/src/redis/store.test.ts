import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { startCoreBed, type CoreBed } from '../../test/core-bed.ts';
import { defineScript, runScript } from './scripts.ts';
import { isStoreFault, onStore, replyCode } from './store.ts';

let bed: CoreBed;

beforeAll(async () => {
  bed = await startCoreBed();
});

afterAll(async () => bed.stop());

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('errors of Redis', () => {
  it('are the fault of one key where the reply says so', async () => {
    await bed.redis.set('text', 'x');
    const error = await failureOf(bed.redis.lpush('text', 'y'));

    expect(replyCode(error)).toBe('WRONGTYPE');
    expect(isStoreFault(error)).toBe(false);
    await expect(onStore(bed.redis, (redis) => redis.lpush('text', 'y'))).rejects.toMatchObject({ name: 'ReplyError' });
  });

  it('are the fault of the store where it has no memory', async () => {
    await bed.redis.config('SET', 'maxmemory', '1');
    const error = await failureOf(bed.redis.set('more', 'x'));
    const scripted = await failureOf(bed.redis.eval("return redis.call('SET', KEYS[1], 'x')", 1, 'more'));
    await bed.redis.config('SET', 'maxmemory', '0');

    expect([replyCode(error), isStoreFault(error)]).toEqual(['OOM', true]);
    expect([replyCode(scripted), isStoreFault(scripted)]).toEqual(['OOM', true]);
  });

  it('are the fault of the store where the login lacks a right, in a script as outside of it', async () => {
    await bed.redis.acl('SETUSER', 'limited', 'on', '>pw', '~*', '+@all', '-set');
    const limited = bed.redis.duplicate({ username: 'limited', password: 'pw' });
    const error = await failureOf(limited.set('more', 'x'));
    const scripted = await failureOf(limited.eval("return redis.call('SET', KEYS[1], 'x')", 1, 'more'));
    limited.disconnect();

    expect([error, scripted].map(isStoreFault)).toEqual([true, true]);
  });

  it('are the fault of the store where nothing was answered', () => {
    expect(isStoreFault(new Error('Command timed out'))).toBe(true);
    expect(isStoreFault(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))).toBe(true);
  });

  it('are not the errors of a program', async () => {
    const broken = await failureOf(onStore(bed.redis, async () => JSON.parse('{')));
    const faults = [broken, new TypeError('x is undefined'), new ReferenceError('x'), new RangeError('x')];

    expect(broken).toMatchObject({ name: 'SyntaxError' });
    expect(faults.map(isStoreFault)).toEqual(faults.map(() => false));
  });
});

describe('a script', () => {
  const double = defineScript('no-writes', 'return ARGV[1] * 2');

  it('runs on a server that does not know it yet, or has forgotten it', async () => {
    expect(await runScript(bed.redis, double, [], [21])).toBe(42);
    await bed.redis.script('FLUSH');
    expect(await runScript(bed.redis, double, [], [4])).toBe(8);
    expect(await bed.redis.script('EXISTS', double.sha)).toEqual([1]);
  });
});
