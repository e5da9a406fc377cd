import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { cases } from '@vantage/test-support/random/case-count';
import { startFuzzBed, type FuzzBed } from './bed.ts';
import { createRandom } from './random.ts';
import { createRequests, type FuzzRequest } from './requests.ts';
import { fuzz } from './run.ts';

const REQUESTS = cases(500);
/** Time limit; an idle machine needs a fraction of it. */
const WITHIN_MS = 180_000;

let bed: FuzzBed;

beforeAll(async () => {
  bed = await startFuzzBed();
}, WITHIN_MS);

afterAll(() => bed.stop(), WITHIN_MS);

describe('requests made from the OpenAPI document', () => {
  it(
    'valid, nearly valid and hostile, are all answered as it says, none as a fault of the service',
    async () => {
      const report = await fuzz(bed, { seed: 20_261_121, isDone: (sent) => sent >= REQUESTS });

      expect(report.faults).toEqual([]);
      expect(report).toMatchObject({ serverErrors: 0, hangs: 0, logged: [] });
      // The run was effective: checks were started and read, monitors written, and each kind of refusal occurred.
      expect([...report.byStatus.keys()]).toEqual(
        expect.arrayContaining([200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 413, 415, 431]),
      );
    },
    WITHIN_MS,
  );

  it('are the same for the same seed, and for every operation', async () => {
    const document = (await (await fetch(`${bed.coordinator.url}/openapi.json`)).json()) as {
      readonly paths: Readonly<Record<string, object>>;
    };
    const series = (seed: number): readonly FuzzRequest[] => {
      const next = createRequests(document, createRandom(seed), { checkIds: [], key: 'vtg_any' });
      return Array.from({ length: 2_000 }, () => next());
    };
    const [first, again, other] = [series(1), series(1), series(2)].map((requests) =>
      requests.map(({ bytes }) => bytes.toString('latin1')),
    );

    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
    const valid = series(1).filter(({ kind }) => kind === 'valid');
    const operations = Object.entries(document.paths).flatMap(([template, item]) =>
      Object.keys(item).map((method) => [method.toUpperCase(), template] as const),
    );
    const missing = operations.filter(([method, template]) => {
      const form = new RegExp(`^${template.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/?]+')}(\\?|$)`);
      return !valid.some((request) => request.method === method && form.test(request.path));
    });
    expect(operations.length).toBeGreaterThan(30);
    expect(missing).toEqual([]);
  });
});
