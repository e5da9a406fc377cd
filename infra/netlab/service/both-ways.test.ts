import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { itNeeding } from '@vantage/test-support/needs';

import { netlabMissing } from '../netlab.ts';
import { openServiceLab, type ServiceLab } from './lab.ts';

const missing = netlabMissing();
const itInNetlab = itNeeding(missing, process.env['CI']);

const [FRA, NYC] = ['62.65.1.9', '185.15.9.9'] as const;

/** `fra - a - b - nyc`. Addresses look public; no packet leaves the namespaces. */
const links = [`fra ${FRA} a 62.65.1.1`, 'a 77.73.5.1 b 77.73.5.2', `b 185.15.9.1 nyc ${NYC}`];
const routes = [
  'fra: route add default via 62.65.1.1',
  'a: route add default via 77.73.5.2',
  'b: route add default via 77.73.5.1',
  'nyc: route add default via 185.15.9.1',
];

let lab: ServiceLab | undefined;
beforeAll(async () => {
  if (missing === null) lab = await openServiceLab({ links, routes, probes: ['fra', 'nyc'], transport: 'gateway' });
});
afterAll(() => lab?.close());

const between = { type: 'traceroute', between: ['fra', 'nyc'] };

describe('two agents at a gateway', () => {
  itInNetlab('trace to each other once their operator offers addresses', async () => {
    const early = await lab!.ask({ method: 'POST', path: '/check', body: between });
    expect(early.status).toBe(400);
    expect(early.body.errors).toMatchObject([{ path: '/between/0' }, { path: '/between/1' }]);

    for (const [probe, address] of [
      ['fra', FRA],
      ['nyc', NYC],
    ] as const) {
      expect(await lab!.ask({ admin: ['offer', probe, address] })).toMatchObject({ status: 0 });
    }
    const { status, body } = await lab!.ask({ method: 'POST', path: '/check', body: between });
    expect([status, body]).toEqual([202, expect.objectContaining({ status: 'pending' })]);
    const { body: check } = await lab!.ask({ path: `/check/${body.checkId}/results?wait=25` });

    expect(check).toMatchObject({ status: 'completed', between: ['fra', 'nyc'] });
    const hops = (probe: string): readonly string[] =>
      check.results[probe].hops.map(({ ip }: { readonly ip: string }) => ip);
    expect(hops('fra')).toEqual(['62.65.1.1', '77.73.5.2', NYC]);
    expect(hops('nyc')).toEqual(['185.15.9.1', '77.73.5.1', FRA]);
    const { body: summary } = await lab!.ask({ path: `/check/${body.checkId}/summary` });
    expect(summary).toMatchObject({ verdict: 'up', headline: expect.stringContaining('reach each other') });
    expect(summary.findings.map(({ code }: { readonly code: string }) => code)).toContain('directions_alike');
  });
});
