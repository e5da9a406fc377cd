import type { Monitor, MonitorInList } from '@vantage/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { startHttpBed, type HttpBed } from '../../../../test/http-bed.ts';
import { monitorMetricsText } from '../../../monitors/monitor-metrics.ts';

const at = '2026-01-01T00:00:00.000Z';

const inList: MonitorInList = {
  name: 'web',
  owner: 'file',
  check: { type: 'ping', host: 'example.com' },
  every: '60s',
  alarm: { when: '3 of 5', networks: 2, countries: 1, for: 2 },
  state: 'bad',
  since: at,
  alarmSince: at,
  headline: 'It fails.',
  lastTickAt: at,
  nextTickAt: null,
  agreement: { failing: 1, counted: 1, needed: 1, networks: 1, countries: 1 },
  tracerouteId: 'nHcPoYCo1qdOC0RrqEcIwQ',
  parting: null,
  lastPathChangeAt: '2026-01-01T00:00:30.000Z',
  probes: {
    'fra-1': {
      state: 'failing',
      since: at,
      flapping: false,
      network: 'AS64496',
      country: 'DE',
      reason: 'no answer',
      rtt: 1.5,
      loss: 0.25,
      certificateDays: null,
      status: null,
    },
    'nyc-1': {
      state: 'unmeasured',
      since: at,
      flapping: true,
      network: null,
      country: null,
      reason: null,
      rtt: null,
      loss: null,
      certificateDays: 12,
      certificateLifeLeft: 0.13,
      status: 200,
    },
  },
};
const result = { state: 'ok' as const, reason: null, rtt: 1, loss: 0, certificateDays: null, status: null };
const monitor: Monitor = {
  ...inList,
  pathChanges: [],
  runs: [
    {
      tick: 2,
      checkId: 'qPUXvL1sQx2rGJm0Zf7N4w',
      scheduledAt: at,
      startedAt: at,
      reason: null,
      results: { 'fra-1': result },
    },
    { tick: 1, checkId: null, scheduledAt: at, startedAt: null, reason: 'No probe.', results: {} },
  ],
};

let bed: HttpBed;
let warnings: readonly string[] = [];

beforeAll(async () => {
  bed = await startHttpBed({
    monitors: {
      list: async () => ({ web: inList }),
      read: async (name: string) => (name === 'web' ? monitor : undefined),
      metrics: async () => monitorMetricsText({ web: inList }),
      follow: () => () => undefined,
      eventsAfter: async () => undefined,
      put: async () => ({ outcome: 'full' }),
      remove: async () => 'absent',
      fileFault: () => undefined,
    },
    warnings: () => warnings,
  });
});

afterAll(() => bed.close());

describe('GET /monitors', () => {
  it('lists them without their runs, with a tag', async () => {
    const seen = await bed.ask('/monitors');

    expect(seen).toMatchObject({ status: 200, json: { web: inList } });
    const again = await bed.ask('/monitors', { headers: { 'If-None-Match': seen.headers.get('ETag')! } });
    expect(again.status).toBe(304);
  });
});

describe('GET /monitors/:name', () => {
  it('has the runs', async () => {
    expect(await bed.ask('/monitors/web')).toMatchObject({ status: 200, json: monitor });
  });

  it.each(['/monitors/other', '/monitors/No%20Name'])('%s is a problem', async (path) => {
    const type = expect.stringMatching(/\/problems\/monitor-not-found$/);

    expect(await bed.ask(path)).toMatchObject({ status: 404, json: { type } });
  });
});

describe('GET /metrics/monitors', () => {
  it('is the last result of every monitor and probe in the format of Prometheus', async () => {
    const { status, text, headers } = await bed.ask('/metrics/monitors');

    expect(status).toBe(200);
    expect(headers.get('Content-Type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text.split('\n')).toEqual(
      expect.arrayContaining([
        '# TYPE vantage_monitor_state gauge',
        'vantage_monitor_state{monitor="web",state="unknown"} 0',
        'vantage_monitor_state{monitor="web",state="bad"} 1',
        'vantage_monitor_interval_seconds{monitor="web"} 60',
        'vantage_monitor_last_tick_timestamp_seconds{monitor="web"} 1767225600',
        'vantage_monitor_last_path_change_timestamp_seconds{monitor="web"} 1767225630',
        'vantage_monitor_failing_probes{monitor="web"} 1',
        'vantage_monitor_probe_success{monitor="web",probe="fra-1"} 0',
        'vantage_monitor_probe_rtt_seconds{monitor="web",probe="fra-1"} 0.0015',
        'vantage_monitor_probe_loss_ratio{monitor="web",probe="fra-1"} 0.25',
        'vantage_monitor_probe_flapping{monitor="web",probe="nyc-1"} 1',
        'vantage_monitor_probe_certificate_days{monitor="web",probe="nyc-1"} 12',
        'vantage_monitor_probe_certificate_life_left_ratio{monitor="web",probe="nyc-1"} 0.13',
        'vantage_monitor_probe_info{monitor="web",probe="fra-1",country="DE",asn="AS64496"} 1',
      ]),
    );
    expect(text).not.toContain('vantage_monitor_probe_success{monitor="web",probe="nyc-1"}');
  });
});

describe('GET /readyz?verbose', () => {
  it('names a file of monitors that is not valid', async () => {
    warnings = ['monitors.yml:3: /monitors/web/every is required'];

    expect((await bed.ask('/readyz?verbose')).json).toEqual({ status: 'ready', warnings });
    expect((await bed.ask('/readyz')).json).toEqual({ status: 'ready' });
  });
});
