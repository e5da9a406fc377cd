import { expect, it } from '@jest/globals';

import { statusOf, type KnownProbe } from './probe-status.ts';

const gone: KnownProbe = {
  record: { id: 'fra-1', name: 'A', datacenter: 'B', countryCode: 'DE', isp: 'C', asNumber: 'AS64496' } as never,
  alive: false,
  heartbeat: undefined,
  lastSeenMs: 0,
};
const full = { ...gone, storeFault: 'Redis refuses writes' };

it.each<readonly [string, KnownProbe, string]>([
  ['has no heartbeat', gone, 'No heartbeat.'],
  ['cannot have one, since Redis refuses writes', full, 'No heartbeat. Redis refuses writes.'],
  ['was never seen', { ...full, lastSeenMs: undefined }, 'Never seen.'],
  ['was suspended', { ...full, switchedOff: 'It was suspended.' }, 'It was suspended.'],
])('a probe that %s is offline for that reason', (_, probe, reason) => {
  expect(statusOf(probe)).toEqual({ status: 'offline', reason });
});
