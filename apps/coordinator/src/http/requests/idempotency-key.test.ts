import { randomUUID } from 'node:crypto';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { checkTypes } from '@vantage/diagnostics/contract';

import { startCoreBed, until, type CoreBed } from '../../../test/core-bed.ts';
import { post, startHttpBed, type BedOptions, type HttpBed, type Seen } from '../../../test/http-bed.ts';
import { CHECK_ID, highLimits, selectFor } from '../../../test/http-fakes.ts';
import type { Checks, Unselected } from '../../checks/checks.ts';
import { StoreUnavailable } from '../../redis/store-errors.ts';
import type { Core } from '../../core.ts';

let bed: CoreBed;
let other: Core;
const edges: HttpBed[] = [];

beforeAll(async () => {
  bed = await startCoreBed();
  other = bed.startCore();
  await until(() => other.rateLimitRedis.status === 'ready');
});

afterEach(async () => {
  await Promise.all(edges.splice(0).map((edge) => edge.close()));
});

afterAll(async () => bed.stop());

/** The HTTP layer of a coordinator with the real idempotency store; checks are only recorded. */
async function edgeOf(core: Core, options: BedOptions = {}): Promise<HttpBed> {
  const edge = await startHttpBed({
    checkTypes: [checkTypes.tcp],
    idempotencyStore: core.idempotencyStore,
    ...options,
  });
  edges.push(edge);
  return edge;
}

const body = { type: 'tcp', host: 'a.example', port: 443 };
const keyed = (key: string, json: object = body, headers: Record<string, string> = {}) =>
  post(json, { 'Idempotency-Key': key, ...headers });

/** Creates checks with ascending ids, after the given failures. */
function numbered(failures: readonly (() => Unselected)[] = []): Pick<Checks, 'select'> {
  let made = 0;
  const left = [...failures];
  const { select } = selectFor(async () => {
    made += 1;
    return `${made}`.padStart(22, '0');
  });
  return { select: async (request) => left.shift()?.() ?? select(request) };
}

const shownOf = ({ status, json, headers }: Seen): unknown => [status, json, headers.get('Location')];

describe('POST /check with an Idempotency-Key', () => {
  it('has the same answer again and measures once, whichever coordinator is asked', async () => {
    const [here, there] = [await edgeOf(bed.core), await edgeOf(other)];
    const key = randomUUID();

    const first = await here.ask('/check', keyed(key));
    const again = await here.ask('/check', keyed(key));
    const elsewhere = await there.ask('/check', keyed(key, { port: 443, host: 'a.example', type: 'tcp' }));

    expect(first.status).toBe(202);
    expect(first.headers.get('Location')).toBe(`/check/${CHECK_ID}/results`);
    expect(shownOf(again)).toEqual(shownOf(first));
    expect(shownOf(elsewhere)).toEqual(shownOf(first));
    expect([here.created.length, there.created.length]).toEqual([1, 0]);
  });

  it('starts another check without a key, with another one, and for another client', async () => {
    const { select } = numbered();
    const here = await edgeOf(bed.core, { checks: { select, read: async () => undefined }, trustedProxies: 1 });
    const from = (address: string): Record<string, string> => ({ 'X-Forwarded-For': address });
    const key = randomUUID();

    const answers = [
      await here.ask('/check', post(body)),
      await here.ask('/check', post(body)),
      await here.ask('/check', keyed(key, body, from('192.0.2.1'))),
      await here.ask('/check', keyed(key, body, from('192.0.2.2'))),
      await here.ask('/check', keyed(`${key}-2`, body, from('192.0.2.1'))),
      await here.ask('/check', keyed(key, body, from('2001:db8::1'))),
      await here.ask('/check', keyed(key, body, from('2001:db8::2'))),
    ];

    const ids = answers.map(({ json }) => Number((json as { readonly checkId: string }).checkId));
    expect(ids).toEqual([1, 2, 3, 4, 5, 6, 6]);
  });

  it.each([
    ['another host', { ...body, host: 'b.example' }],
    ['another field', { ...body, limit: 3 }],
    ['a default that is written out', { ...body, limit: 10 }],
  ])('refuses %s with 409', async (_reason, changed) => {
    const here = await edgeOf(bed.core);
    const key = randomUUID();
    await here.ask('/check', keyed(key));

    const answer = await here.ask('/check', keyed(key, changed));

    expect(answer.status).toBe(409);
    expect(answer.json).toMatchObject({ type: expect.stringMatching(/\/problems\/idempotency-key-reused$/) });
    expect(here.created).toHaveLength(1);
  });

  it.each([
    ['none', ''],
    ['a space', 'a b'],
    ['one that is too long', 'x'.repeat(256)],
    ['one beyond ASCII', 'ü'],
  ])('refuses %s as a key with 400', async (_reason, key) => {
    const here = await edgeOf(bed.core);

    const answer = await here.ask('/check', keyed(key));

    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ errors: [{ path: 'Idempotency-Key:' }] });
    expect(here.created).toEqual([]);
  });

  it.each([
    ['a list', `${'['.repeat(8_000)}${']'.repeat(8_000)}`],
    ['an object', `${'{"a":'.repeat(2_500)}1${'}'.repeat(2_500)}`],
    ['a field', `{"type":"tcp","host":"a.example","port":${'['.repeat(7_000)}${']'.repeat(7_000)}}`],
  ])('refuses a body whose nesting is as deep as it can be with 400: %s', async (_reason, text) => {
    const here = await edgeOf(bed.core);

    const answer = await here.ask('/check', post(text, { 'Idempotency-Key': randomUUID() }));

    expect(answer.status).toBe(400);
    expect(here.created).toEqual([]);
  });

  it('takes the longest key, and one in quotes', async () => {
    const here = await edgeOf(bed.core);

    expect((await here.ask('/check', keyed(`"${randomUUID()}"`))).status).toBe(202);
    expect((await here.ask('/check', keyed(randomUUID().padEnd(255, 'x')))).status).toBe(202);
  });

  it('measures once for many who ask at the same time', async () => {
    const [here, there] = [await edgeOf(bed.core), await edgeOf(other)];
    const key = randomUUID();

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? here : there).ask('/check', keyed(key))),
    );

    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    expect(here.created.length + there.created.length).toBe(1);
  });

  it('answers 409 to a request that would have to wait too long', async () => {
    const idempotencyStore = { claim: async () => ({ kind: 'under-way' as const }) };
    const here = await edgeOf(bed.core, { idempotencyStore });

    const answer = await here.ask('/check', keyed(randomUUID()));

    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([409, '2']);
    expect(answer.json).toMatchObject({ type: expect.stringMatching(/\/problems\/idempotency-key-in-use$/) });
  });

  it.each([
    [
      '503',
      () => {
        throw new StoreUnavailable('away');
      },
    ],
    [
      '500',
      () => {
        throw new Error('a fault');
      },
    ],
    ['422', () => ({ created: false as const, reason: 'no-probe' as const, detail: 'No probe.' })],
  ])('does not keep a %s', async (status, fail) => {
    const { select } = numbered([fail]);
    const here = await edgeOf(bed.core, { checks: { select, read: async () => undefined } });
    const key = randomUUID();

    const failed = await here.ask('/check', keyed(key));
    const next = await here.ask('/check', keyed(key));

    expect([failed.status, next.status]).toEqual([Number(status), 202]);
  });

  it('keeps nothing of a request that was refused before, and counts every repetition', async () => {
    const here = await edgeOf(bed.core, { rateLimits: { ...highLimits, createCheck: 3 } });
    const key = randomUUID();

    const invalid = await here.ask('/check', keyed(key, { ...body, port: -1 }));
    const first = await here.ask('/check', keyed(key));
    const again = await here.ask('/check', keyed(key));
    const tooMany = await here.ask('/check', keyed(key));

    expect([invalid, first, again, tooMany].map(({ status }) => status)).toEqual([400, 202, 202, 429]);
  });
});
