import { redisKeys } from '@vantage/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import { until } from '../../test/core-bed.ts';
import { startKeyBed, storedKeys, type KeyBed } from '../../test/key-bed.ts';
import { StoreUnavailable } from '../redis/store-errors.ts';
import { hashSecret, readKeyText } from './key-text.ts';

let bed: KeyBed;

beforeAll(async () => {
  bed = await startKeyBed();
});

afterAll(() => bed.stop());

afterEach(() => bed.redis.flushall());

describe('the copy of the keys', () => {
  it('finds a key by its text, which Redis holds as a digest only', async () => {
    const text = await bed.add('grafana', '--scopes', 'check,read', '--limit', '50', '--allow', '10.0.0.0/8');
    const ring = bed.openRing();
    await ring.poll();

    const { secret } = readKeyText(text)!;
    expect(ring.find(text)).toMatchObject({
      key: { name: 'grafana', scopes: ['check', 'read'], limit: 50, allow: ['10.0.0.0/8'], expiresAt: null },
    });
    const stored = await storedKeys(bed.redis);
    expect(stored).not.toContain(secret);
    expect(stored).toContain(hashSecret(secret));
  });

  it('refuses other texts, each with its reason', async () => {
    const text = await bed.add('grafana', '--scopes', 'read');
    const ring = bed.openRing();
    await ring.poll();

    expect(ring.find('eyJhbGciOiJIUzI1NiJ9')).toEqual({ refused: 'malformed' });
    expect(ring.find(`${text.slice(0, -1)}${text.endsWith('A') ? 'E' : 'A'}`)).toEqual({ refused: 'unknown' });
    expect(ring.find(text.replace(/vtg_.{8}/, 'vtg_00000000'))).toEqual({ refused: 'unknown' });
  });

  it('cannot say anything of a key before it was read once, but of a malformed one', async () => {
    const text = await bed.add('grafana', '--scopes', 'read');
    const ring = bed.openRing();

    expect(ring.find(text)).toBe('unread');
    expect(ring.find('x')).toEqual({ refused: 'malformed' });
  });

  it('follows rotation, overlap and removal', async () => {
    const ring = bed.openRing();
    const first = await bed.add('a', '--scopes', 'read');
    await ring.poll();
    const { key: before } = ring.find(first) as { key: { id: string } };

    const second = (await bed.run('key:rotate', 'a')).out;
    await ring.poll();
    expect(ring.find(first)).toEqual({ refused: 'unknown' });
    expect(ring.find(second)).toMatchObject({ key: { name: 'a', id: before.id } });

    const third = (await bed.run('key:rotate', 'a', '--overlap', '1h')).out;
    await ring.poll();
    expect([ring.find(second), ring.find(third)]).toMatchObject([{ key: { name: 'a' } }, { key: { name: 'a' } }]);

    await bed.run('key:remove', 'a');
    await ring.poll();
    expect([ring.find(second), ring.find(third)]).toEqual([{ refused: 'unknown' }, { refused: 'unknown' }]);
  });

  it('lets a key end at its time, and an old secret at the end of the overlap, without being read again', async () => {
    const brief = await bed.add('brief', '--scopes', 'read', '--expires', '1s');
    const lasting = await bed.add('lasting', '--scopes', 'read');
    const newer = (await bed.run('key:rotate', 'lasting', '--overlap', '1s')).out;
    const ring = bed.openRing();
    await ring.poll();

    const isRefused = (text: string): boolean => JSON.stringify(ring.find(text)).includes('refused');
    await until(() => isRefused(brief) && isRefused(lasting));

    expect([ring.find(brief), ring.find(lasting)]).toEqual([{ refused: 'expired' }, { refused: 'expired' }]);
    expect(ring.find(newer)).toMatchObject({ key: { name: 'lasting' } });
  });

  it('stays as it was while Redis does not answer', async () => {
    const other = await startKeyBed();
    const text = await other.add('grafana', '--scopes', 'read');
    const ring = other.openRing();
    await ring.poll();

    await other.stop();

    await expect(ring.poll()).rejects.toThrow(StoreUnavailable);
    expect(ring.find(text)).toMatchObject({ key: { name: 'grafana' } });
  });

  it('leaves out a record that is not valid, and no other one', async () => {
    const text = await bed.add('good', '--scopes', 'read');
    const odd = await bed.add('odd', '--scopes', 'read');
    const record = JSON.parse((await bed.redis.hget(redisKeys.apiKeys, 'odd'))!) as object;
    const broken = [
      { ...record, scopes: ['root'] },
      { ...record, allow: ['everything'] },
      { ...record, limit: 0 },
      'x',
    ];
    for (const value of broken) {
      await bed.redis.hset(redisKeys.apiKeys, 'odd', JSON.stringify(value));
      const ring = bed.openRing();
      await ring.poll();

      expect([value, ring.find(odd), ring.find(text)]).toMatchObject([
        value,
        { refused: 'unknown' },
        { key: { name: 'good' } },
      ]);
    }
  });
});
