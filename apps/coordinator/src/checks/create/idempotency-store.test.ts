import { LONGEST_CHECK_MS } from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';

import { startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { createIdempotencyStore, type Claim, type IdempotencyStore } from './idempotency-store.ts';

let bed: CoreBed;
let here: IdempotencyStore;
/** The store of another coordinator. */
let there: IdempotencyStore;
let second: Redis;

/** Waits and leases that no slow machine exceeds. */
const patient = { waitMs: 50_000, leaseMs: 600_000 };
const never = new AbortController().signal;
const answer = { checkId: 'x'.repeat(22), message: 'It runs.' };

beforeAll(async () => {
  bed = await startCoreBed();
  second = new Redis(bed.server.url);
  here = createIdempotencyStore(bed.redis, patient);
  there = createIdempotencyStore(second, { ...patient, waitMs: 100 });
  await until(() => bed.redis.status === 'ready' && second.status === 'ready');
});

afterAll(async () => {
  second.disconnect();
  await bed.stop();
});

function first(claim: Claim): Claim & { readonly kind: 'first' } {
  if (claim.kind !== 'first') throw new Error(`the claim is ${claim.kind}`);
  return claim;
}

describe('the answer to the first request with a key', () => {
  it('is that of every later one, of whichever coordinator', async () => {
    await first(await here.claim('192.0.2.1', 'a', 'body', never)).keep(answer);

    expect(await there.claim('192.0.2.1', 'a', 'body', never)).toEqual({ kind: 'repeated', answer });
    expect(await here.claim('192.0.2.1', 'a', 'body', never)).toEqual({ kind: 'repeated', answer });
  });

  it('is for the same request of the same client alone', async () => {
    await first(await here.claim('192.0.2.1', 'b', 'body', never)).keep(answer);

    expect(await there.claim('192.0.2.1', 'b', 'other', never)).toEqual({ kind: 'other-request' });
    expect(await there.claim('192.0.2.2', 'b', 'other', never)).toMatchObject({ kind: 'first' });
    expect(await there.claim('192.0.2.1', 'c', 'other', never)).toMatchObject({ kind: 'first' });
  });

  it('is waited for while it is not known, but not for long', async () => {
    const claim = first(await here.claim('192.0.2.1', 'd', 'body', never));
    const waiting = here.claim('192.0.2.1', 'd', 'body', never);

    expect(await there.claim('192.0.2.1', 'd', 'body', never)).toEqual({ kind: 'under-way' });
    expect(await here.claim('192.0.2.1', 'd', 'body', AbortSignal.abort())).toEqual({ kind: 'under-way' });
    expect(await there.claim('192.0.2.1', 'd', 'other', never)).toEqual({ kind: 'other-request' });
    await claim.keep(answer);

    expect(await waiting).toEqual({ kind: 'repeated', answer });
  });

  it('is created again if the first created no check', async () => {
    const claim = first(await here.claim('192.0.2.1', 'e', 'body', never));
    const waiting = here.claim('192.0.2.1', 'e', 'body', never);
    await claim.release();

    const next = first(await waiting);
    // The former owner of the lock can no longer write.
    await claim.keep({ ...answer, message: 'Too late.' });
    await claim.release();
    await next.keep(answer);

    expect(await there.claim('192.0.2.1', 'e', 'body', never)).toEqual({ kind: 'repeated', answer });
  });

  it('is kept for a day, and its claim no longer than a coordinator may need', async () => {
    const usual = createIdempotencyStore(bed.redis);
    const before = new Set(await bed.redis.keys('first:*'));
    const claim = first(await usual.claim('192.0.2.1', 'f', 'body', never));
    const key = (await bed.redis.keys('first:*')).find((name) => !before.has(name))!;
    const leaseMs = await bed.redis.pttl(key);
    await claim.keep(answer);
    const keptMs = await bed.redis.pttl(key);

    expect(leaseMs).toBeGreaterThan(0);
    expect(leaseMs).toBeLessThanOrEqual(10_000);
    expect(keptMs).toBeGreaterThan(86_400_000 - 60_000);
    expect(keptMs).toBeLessThanOrEqual(86_400_000);
    expect(key + String(await bed.redis.get(key))).not.toMatch(/192\.0\.2\.1|body/);
  });

  it('is kept no longer than the check', async () => {
    const brief = bed.startCore({ retentionSeconds: 600 });
    await until(async () => (await brief.ready()).redis);
    const before = new Set(await bed.redis.keys('first:*'));
    await first(await brief.idempotencyStore.claim('192.0.2.1', 'j', 'body', never)).keep(answer);
    const key = (await bed.redis.keys('first:*')).find((one) => !before.has(one));

    const keptMs = await bed.redis.pttl(key!);
    expect(keptMs).toBeGreaterThan(600_000);
    expect(keptMs).toBeLessThanOrEqual(600_000 + LONGEST_CHECK_MS);
    await brief.close();
  });

  it('is given up by a coordinator that died', async () => {
    const brief = createIdempotencyStore(bed.redis, { leaseMs: 50 });
    first(await brief.claim('192.0.2.1', 'g', 'body', never));

    const next = await here.claim('192.0.2.1', 'g', 'body', never);

    expect(next.kind).toBe('first');
  });

  it('cannot be asked for while the store is away', async () => {
    const away = new Redis(bed.server.url, { lazyConnect: true });
    const claim = createIdempotencyStore(away).claim('192.0.2.1', 'h', 'body', never);

    await expect(claim).rejects.toMatchObject({ name: 'StoreUnavailable' });
  });

  it('is kept or given back later where the store is away for a moment', async () => {
    const shaky = new Redis(bed.server.url);
    await until(() => shaky.status === 'ready');
    const claim = first(await createIdempotencyStore(shaky, patient).claim('192.0.2.1', 'i', 'body', never));
    shaky.disconnect();
    await until(() => shaky.status !== 'ready');
    await claim.release();
    const held = await there.claim('192.0.2.1', 'i', 'body', never);
    await shaky.connect();

    expect(held).toEqual({ kind: 'under-way' });
    expect((await here.claim('192.0.2.1', 'i', 'body', never)).kind).toBe('first');
    shaky.disconnect();
  });
});
