import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { startFuzzBed, type FuzzBed } from './bed.ts';
import { createRandom } from './random.ts';
import { createRequests } from './requests.ts';
import { fuzz } from './run.ts';

const REQUESTS = 1_000;
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
      // The run was effective: checks were started and read, and each kind of refusal occurred.
      expect([...report.byStatus.keys()]).toEqual(
        expect.arrayContaining([200, 202, 204, 304, 400, 401, 403, 404, 405, 413, 415, 431]),
      );
    },
    WITHIN_MS,
  );

  it('are the same for the same seed, and for every operation', async () => {
    const document = (await (await fetch(`${bed.coordinator.url}/openapi.json`)).json()) as {
      readonly paths: Readonly<Record<string, object>>;
    };
    const series = (seed: number): readonly string[] => {
      const next = createRequests(document, createRandom(seed), []);
      return Array.from({ length: 200 }, () => next().bytes.toString('latin1'));
    };

    expect(series(1)).toEqual(series(1));
    expect(series(1)).not.toEqual(series(2));
    for (const template of Object.keys(document.paths)) {
      const [start = ''] = template.split('{');
      expect(series(1).some((bytes) => bytes.split(' ')[1]!.startsWith(start))).toBe(true);
    }
  });
});
