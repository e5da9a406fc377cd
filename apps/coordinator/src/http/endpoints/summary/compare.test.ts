import { afterEach, describe, expect, it } from '@jest/globals';
import type { Check, Problem } from '@vantage/contract';

import { startHttpBed, tcpCheck, type BedOptions, type HttpBed } from '../../../../test/http-bed.ts';
import { CHECK_ID, highLimits } from '../../../../test/http-fakes.ts';
import { CheckEvicted } from '../../../redis/store-errors.ts';

const OTHER_ID = 'Zz1mB0hEQ2mW3l7n9rTzVg';
const path = `/check/${CHECK_ID}/compare/${OTHER_ID}`;

let bed: HttpBed | undefined;

afterEach(async () => {
  await bed?.close();
  bed = undefined;
});

async function start(a?: Check, b?: Check, options: BedOptions = {}): Promise<HttpBed> {
  bed = await startHttpBed(options);
  if (a !== undefined) bed.stored.set(CHECK_ID, a);
  if (b !== undefined) bed.stored.set(OTHER_ID, { ...b, testId: OTHER_ID });
  return bed;
}

const check = tcpCheck('completed');
const closed = { ...check.results['fra-1'], result: 'failure', rt: null, state: 'closed', attempts: [] };

describe('GET /check/:a/compare/:b', () => {
  it('names the differences, from the first check to the second', async () => {
    const { ask } = await start(check, { ...check, results: { ...check.results, 'fra-1': closed } });

    const { status, json, headers } = await ask(path);

    expect(status).toBe(200);
    expect(json).toMatchObject({
      type: 'tcp',
      result: 'different',
      a: { checkId: CHECK_ID, verdict: 'up', probes: [] },
      b: { checkId: OTHER_ID, verdict: 'partial', probes: [] },
      probes: { 'fra-1': { differences: expect.arrayContaining([expect.objectContaining({ subject: 'state' })]) } },
    });
    expect((json as { sentence: string }).sentence).toMatch(/^Verdict up → partial; .*port open → closed \(fra-1\)/);
    expect(headers.get('Cache-Control')).toBe('public, max-age=60');
    expect((await ask(path, { headers: { 'If-None-Match': headers.get('ETag')! } })).status).toBe(304);
  });

  it('is kept no longer than either check', async () => {
    const old = { ...check, completedAt: '2026-01-01T00:00:00.000Z' };
    const { ask } = await start(check, old, { retentionSeconds: 1 });

    expect((await ask(path)).headers.get('Cache-Control')).toBe('public, max-age=0');
  });

  it.each<[string, Check | undefined, Check | undefined, number, RegExp]>([
    ['the first is unknown', undefined, check, 404, /^The first check: There is no check with this id/],
    ['the second is unknown', check, undefined, 404, /^The second check: There is no check with this id/],
    ['the first is not completed', tcpCheck('pending'), check, 409, /^The first check is not completed yet/],
    ['the second is not completed', check, tcpCheck('pending'), 409, /^The second check is not completed yet/],
    ['neither is completed', tcpCheck('pending'), tcpCheck('pending'), 409, /^Both checks are not completed yet/],
    [
      'the types differ',
      check,
      { ...check, type: 'ping', results: {} },
      409,
      /^The first check is of type tcp, the second of type ping/,
    ],
  ])('names which check is wrong: %s', async (_reason, a, b, status, detail) => {
    const { ask } = await start(a, b);

    const answer = await ask(path);

    expect([answer.status, (answer.json as Problem).detail]).toEqual([status, expect.stringMatching(detail)]);
  });

  it.each([
    ['the same id', `/check/${CHECK_ID}/compare/${CHECK_ID}`, 409, /same check/],
    ['no id', `/check/${CHECK_ID}/compare/__proto__`, 404, /^The second check/],
  ])('refuses %s', async (_reason, asked, status, detail) => {
    const { ask } = await start(check);

    const answer = await ask(asked);

    expect([answer.status, (answer.json as Problem).detail]).toEqual([status, expect.stringMatching(detail)]);
  });

  it('says which check was removed before its time', async () => {
    const read = async (id: string): Promise<Check> => {
      if (id === OTHER_ID) throw new CheckEvicted('It was removed.');
      return check;
    };
    const { ask } = await start(undefined, undefined, { checks: { read } });

    const { status, json } = await ask(path);

    expect([status, (json as Problem).detail]).toEqual([410, 'The second check: It was removed.']);
  });

  it('counts as a request for a summary', async () => {
    const { ask } = await start(check, check, { rateLimits: { ...highLimits, showSummary: 1 } });

    expect([(await ask(path)).status, (await ask(`/check/${CHECK_ID}/summary`)).status]).toEqual([200, 429]);
  });
});
