import { afterEach, describe, expect, it } from '@jest/globals';

import { post, startHttpBed, type HttpBed } from '../../test/http-bed.ts';
import { CHECK_ID, stubChecks } from '../../test/http-fakes.ts';

let bed: HttpBed | undefined;

afterEach(async () => {
  await bed?.close();
  bed = undefined;
});

const never = new Promise<never>(() => undefined);
const valid = { type: 'tcp', host: 'a.example', port: 443 };

describe('a store that says nothing', () => {
  it('is reported by every endpoint, each with its limit', async () => {
    bed = await startHttpBed({
      checks: { ...stubChecks([], new Map()), create: () => never, read: () => never },
      probes: { list: () => never, agents: () => never },
    });
    const { ask } = bed;

    const answers = await Promise.all([
      ask('/check', post(valid)),
      ask(`/check/${CHECK_ID}/results`),
      ask('/probes'),
      ask('/probes/agents'),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
    for (const { headers } of answers) {
      expect(headers.get('Retry-After')).toBe('2');
      expect(headers.get('RateLimit')).toMatch(/; r=\d+; t=\d+$/);
    }
  });

  it('lets nothing be started by a request that has been answered', async () => {
    const asked = Promise.withResolvers<boolean>();
    const answered = Promise.withResolvers<void>();
    bed = await startHttpBed({
      checks: {
        ...stubChecks([], new Map()),
        create: async (_request, admit) => {
          await answered.promise;
          asked.resolve((await admit?.(1)) ?? true);
          return { created: false, reason: 'not-admitted' };
        },
      },
    });

    expect((await bed.ask('/check', post(valid))).status).toBe(503);
    answered.resolve();

    expect(await asked.promise).toBe(false);
  });

  it('does not cut short what a caller asked to wait for', async () => {
    const asked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<undefined>();
    bed = await startHttpBed({
      checks: {
        ...stubChecks([], new Map()),
        read: (_id, waitMs) => {
          if (waitMs === 0) return never;
          asked.resolve();
          return held.promise;
        },
      },
    });
    const waiting = bed.ask(`/check/${CHECK_ID}/results?wait=20`);
    await asked.promise;

    // Answered when the time budget for Redis has passed, which the waiting request must outlast.
    expect((await bed.ask(`/check/${CHECK_ID}/results`)).status).toBe(503);
    held.resolve(undefined);

    expect((await waiting).status).toBe(404);
  });
});
