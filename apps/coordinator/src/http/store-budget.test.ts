import { afterAll, describe, expect, it } from '@jest/globals';

import { post, startHttpBed, type HttpBed } from '../../test/http-bed.ts';
import { CHECK_ID, noMonitors, stubChecks } from '../../test/http-fakes.ts';
import type { ApiKey } from '../keys/api-key.ts';

const beds: HttpBed[] = [];

afterAll(async () => {
  await Promise.all(beds.map((bed) => bed.close()));
});

async function openBed(...options: Parameters<typeof startHttpBed>): Promise<HttpBed> {
  const bed = await startHttpBed(...options);
  beds.push(bed);
  return bed;
}

const never = new Promise<never>(() => undefined);
const valid = { type: 'tcp', host: 'a.example', port: 443 };
const OTHER_ID = CHECK_ID.replace('q', 'r');
/** A key with every scope. */
const key = { name: 'all', scopes: ['check', 'read', 'monitor'], limit: 1_000, allow: [] } as unknown as ApiKey;

/** Methods of a path of the OpenAPI document. */
type Operations = Readonly<Record<string, { readonly responses: object }>>;

describe('a store that says nothing', () => {
  it.concurrent('is reported by every endpoint that needs it, each with its limit', async () => {
    const silent = (): Promise<never> => never;
    const monitors = { ...noMonitors, list: silent, read: silent, metrics: silent, eventsAfter: silent };
    const bed = await openBed({
      checks: { select: silent, create: silent, read: silent, screenshot: silent },
      probes: { list: silent, agents: silent, metricsAddresses: silent },
      live: { follow: silent },
      monitors: { ...monitors, put: silent, remove: silent },
      keys: { find: () => ({ key }), poll: async () => undefined },
    });
    const { paths } = (await bed.ask('/openapi.json')).json as { readonly paths: Readonly<Record<string, Operations>> };
    const operations = Object.entries(paths).flatMap(([template, item]) =>
      Object.entries(item).flatMap(([method, { responses }]) => ('503' in responses ? [`${method} ${template}`] : [])),
    );
    const bodies: Readonly<Record<string, object>> = {
      'post /check': valid,
      'put /monitors/{name}': { check: valid, every: '1m' },
    };
    const queries: Readonly<Record<string, string>> = { 'get /sd': '?module=icmp&target=a.example' };
    // `/readyz` reports what the bed sets, a scrape may take as long as its own timeout, and `/me` needs the keys alone.
    const asked = operations.filter((name) => !['get /readyz', 'get /probe', 'get /me'].includes(name));

    const answers = await Promise.all(
      asked.map(async (name) => {
        const [method, template] = name.split(' ') as [string, string];
        const path = template.replace('{id}', CHECK_ID).replace('{other}', OTHER_ID).replace('{name}', 'web');
        const headers = { Authorization: 'Bearer vtg_any', 'Content-Type': 'application/json' };
        const body = name in bodies ? { body: JSON.stringify(bodies[name]) } : {};
        return bed.ask(`${path}${queries[name] ?? ''}`, { method: method.toUpperCase(), headers, ...body });
      }),
    );

    expect(asked.length).toBeGreaterThan(15);
    expect(answers.map(({ status }, index) => [asked[index], status])).toEqual(asked.map((name) => [name, 503]));
    for (const { headers } of answers) {
      expect(headers.get('Retry-After')).toMatch(/^[123]$/);
      expect(headers.get('RateLimit')).toMatch(/; r=\d+; t=\d+$/);
    }
  });

  it.concurrent('lets nothing be started by a request that has been answered', async () => {
    const asked = Promise.withResolvers<boolean>();
    const answered = Promise.withResolvers<void>();
    const bed = await openBed({
      checks: {
        ...stubChecks([], new Map()),
        select: async () => {
          await answered.promise;
          return {
            created: undefined,
            checkId: CHECK_ID,
            probes: ['fra-1'],
            grant: undefined,
            start: async ({ admission } = {}) => {
              asked.resolve((await admission?.isAdmitted) ?? true);
              return undefined;
            },
          };
        },
      },
    });

    expect((await bed.ask('/check', post(valid))).status).toBe(503);
    answered.resolve();

    expect(await asked.promise).toBe(false);
  });

  it.concurrent('does not cut short what a caller asked to wait for', async () => {
    const asked = Promise.withResolvers<void>();
    const held = Promise.withResolvers<undefined>();
    const bed = await openBed({
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

    // This answer comes when the time budget for Redis has passed; the waiting request must last longer.
    expect((await bed.ask(`/check/${CHECK_ID}/results`)).status).toBe(503);
    held.resolve(undefined);

    expect((await waiting).status).toBe(404);
  });
});
