import { exampleMonitor, exampleProbe } from './example-values.ts';
import type { Json, JsonObject } from './json.ts';

const CHECK_ID = 'qPUXvL1sQx2rGJm0Zf7N4w';

const rtts = [0.92, 0.88, 0.95, 0.91];

const pingResult: JsonObject = {
  result: 'success',
  rt: 0.92,
  resolvedIp: '192.0.2.80',
  error: null,
  startedAt: '2026-11-20T21:00:00.120Z',
  finishedAt: '2026-11-20T21:00:01.640Z',
  rttMin: 0.88,
  rttAvg: 0.915,
  rttMax: 0.95,
  rttStdDev: 0.025,
  jitter: 0.05,
  pingCount: 4,
  pingCompleted: 4,
  loss: 0,
  size: 56,
  clock: 'kernel',
  packets: rtts.map((rtt, index) => ({ seq: index + 1, rtt, ttl: 54, from: '192.0.2.80', duplicate: false })),
  anomalies: { duplicates: 0, late: 0, reordered: 0, corrupted: 0 },
};

const check: JsonObject = {
  testId: CHECK_ID,
  type: 'ping',
  host: 'www.example.com',
  request: {},
  status: 'completed',
  createdAt: '2026-11-20T21:00:00.000Z',
  completedAt: '2026-11-20T21:00:01.700Z',
  results: { 'fra-1': pingResult },
};

const summary: JsonObject = {
  checkId: CHECK_ID,
  type: 'ping',
  host: 'www.example.com',
  status: 'completed',
  verdict: 'up',
  agree: { n: 1, of: 1 },
  counts: { up: 1, down: 0, silent: 0, notMeasured: 0, pending: 0 },
  headline: 'www.example.com answers pings from the one probe asked (round trip 0.88 ms).',
  findings: [],
  groups: [{ subject: 'addresses', values: ['192.0.2.80'], probes: ['fra-1'] }],
};

const side = { host: 'www.example.com', verdict: 'up', probes: [] };

const comparison: JsonObject = {
  type: 'ping',
  a: { ...side, checkId: CHECK_ID, createdAt: '2026-11-20T21:00:00.000Z' },
  b: { ...side, checkId: 'Zz1mB0hEQ2mW3l7n9rTzVg', createdAt: '2026-11-21T21:00:00.000Z' },
  result: 'different',
  sentence: 'Measured address 192.0.2.80 → 192.0.2.81 (fra-1).',
  differences: [
    {
      subject: 'addresses',
      name: 'resolvedIp',
      certain: true,
      probes: ['fra-1'],
      text: 'measured address 192.0.2.80 → 192.0.2.81',
    },
  ],
  probes: {
    'fra-1': {
      differences: [
        {
          subject: 'addresses',
          name: 'resolvedIp',
          a: ['192.0.2.80'],
          b: ['192.0.2.81'],
          certain: true,
          text: 'measured address 192.0.2.80 → 192.0.2.81',
        },
      ],
    },
  },
};

const me: JsonObject = {
  ip: '203.0.113.77',
  hostname: 'host-77.example.net',
  hostnameVerified: true,
  ipv4: '203.0.113.77',
  ipv6: null,
  city: 'Berlin',
  region: null,
  country: 'Germany',
  countryCode: 'DE',
  country_code: 'DE',
  timezone: 'Europe/Berlin',
  isp: 'Example Access',
  asn: 'AS64496',
  as: 'AS64496',
  org: 'Example Access',
  provider: 'IP Geolocation by DB-IP (https://db-ip.com)',
};

const page = '<!doctype html>\n<html lang="en">…</html>\n';

/**
 * Examples of 200 responses, by `operationId`. Pages and images are placeholders, the screenshot has none, and those of
 * streams are the data of one event.
 */
export const answerExamples: Readonly<Record<string, Json>> = {
  readCheck: check,
  followCheck: check,
  showSummary: summary,
  showComparison: comparison,
  showBadge: '<svg xmlns="http://www.w3.org/2000/svg" width="214" height="20">…</svg>',
  showCard: '(a PNG)',
  showEmbed: page,
  listProbes: { 'fra-1': exampleProbe },
  listAgents: { 'fra-1': { transport: 'gateway', version: '0.1.0', state: 'connected', reason: null } },
  listMonitors: { web: exampleMonitor },
  readMonitor: { ...exampleMonitor, pathChanges: [], runs: [] },
  showMonitorMetrics: '# TYPE vantage_monitor_state gauge\nvantage_monitor_state{monitor="web",state="ok"} 1\n',
  followMonitor: exampleMonitor,
  showCaller: me,
  probeTarget: '# TYPE probe_success gauge\nprobe_success{probe="fra-1"} 1\n',
  discoverTargets: [{ targets: ['https://www.example.com/'], labels: { __param_probe: 'fra-1' } }],
  discoverAgents: [{ targets: ['192.0.2.10:9464'], labels: { probe: 'fra-1' } }],
  showHealth: { status: 'ok' },
  showReadiness: { status: 'ready' },
  showProbing: 'Canonical: https://vantage.example/.well-known/probing.txt\nContact: mailto:noc@example.net\n',
  showSecurity: 'Contact: mailto:security@example.net\nExpires: 2027-11-20T00:00:00.000Z\n',
  showOpenApi: { openapi: '3.1.0' },

  showDocs: page,
  showHome: page,
  showProblem: page,
  showCheckPage: page,
  showComparePage: page,
  showStatusPage: page,
  showMonitorsPage: page,
  showMonitorPage: page,
};
