import { expect, it } from '@jest/globals';

import type { KnownProbe } from '../../probes/registry/probe-status.ts';
import { checkProbes } from './check-probes.ts';

const gone: KnownProbe = {
  record: { id: 'fra-1', name: 'A', datacenter: 'B', countryCode: 'DE', isp: 'C', asNumber: 'AS64496' } as never,
  alive: false,
  heartbeat: undefined,
  lastSeenMs: 0,
};

it.each<readonly [string, KnownProbe, string]>([
  ['its agent is gone', gone, 'probe:remove fra-1'],
  ['Redis refuses its heartbeats', { ...gone, storeFault: 'MISCONF' }, 'Let Redis take writes again'],
])('a probe is removed or not by the cause of its absence: %s', (_, probe, remedy) => {
  const found = checkProbes([probe], '0.1.0').find(({ check }) => check === 'probe.status');

  expect(found?.remedy).toContain(remedy);
});
