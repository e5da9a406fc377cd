import type { JsonObject } from './schemas.ts';

export const exampleProbe: JsonObject = {
  ...{ name: 'Frankfurt 1', datacenter: 'Frankfurt One', countryCode: 'DE', isp: 'Example Network' },
  ...{ asNumber: 'AS64496', city: 'Frankfurt', latitude: 50.11, longitude: 8.68, tags: ['europe'] },
  ...{ status: 'healthy', reason: null, version: '0.1.0', lastSeen: '2026-11-20T21:00:00.000Z' },
  capabilities: {
    types: ['ping', 'tcp', 'udp', 'dns', 'http', 'traceroute', 'info'],
    ipv4: true,
    ipv6: true,
    screenshot: true,
  },
  load: { running: 1, capacity: 20 },
};

export const exampleMonitor: JsonObject = {
  ...{ name: 'web', owner: 'file', every: '60s', state: 'ok', since: '2026-11-20T20:00:00.000Z' },
  check: { type: 'http', host: 'https://www.example.com/', limit: 5 },
  expect: { status: ['2xx'] },
  alarm: { when: '3 of 5' },
  headline: 'https://www.example.com/ answers with status 200 from all 5 probes.',
  ...{ lastTickAt: '2026-11-20T21:00:00.000Z', nextTickAt: '2026-11-20T21:01:00.000Z' },
  agreement: { failing: 0, counted: 5, needed: 3, networks: 0, countries: 0 },
  ...{ alarmSince: null, tracerouteId: null, parting: null },
  probes: {
    'fra-1': {
      ...{ state: 'ok', since: '2026-11-20T20:00:00.000Z', flapping: false, network: 'AS64496', country: 'DE' },
      ...{ reason: null, rtt: 36.5, loss: null, certificateDays: 58, status: 200 },
    },
  },
};
