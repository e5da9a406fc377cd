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

it('has an error if no probe is healthy, as /readyz, even if degraded ones run checks', () => {
  const heartbeat = { draining: false, degraded: ['ping: no raw sockets'], capabilities: {}, load: {} } as never;
  const degraded: KnownProbe = { ...gone, alive: true, heartbeat };
  const healthy: KnownProbe = { ...gone, alive: true, heartbeat: { ...(heartbeat as object), degraded: [] } as never };
  const totals = [[degraded, gone], [degraded, healthy], [gone]].map((known) => checkProbes(known, '0.1.0')[0]!);

  expect(totals.map(({ status, message }) => `${status}: ${message}`)).toEqual([
    'error: 0 of 2 probes healthy: /readyz is 503, though 1 may still run checks.',
    'ok: 1 of 2 probes healthy.',
    'error: The only probe is offline: no check can run.',
  ]);
});
