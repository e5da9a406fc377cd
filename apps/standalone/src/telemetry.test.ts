import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, type Client } from '@vantage/client';

import { startCollector, type Collector } from '@vantage/test-support/trace-collector';
import { startService, temporaryFolder, type Service } from '../test/service.ts';

/** The whole service with metrics and traces: effects of one check on both. */
describe('a service that is watched', () => {
  const data = temporaryFolder();
  const target: Server = createServer((socket) => socket.destroy());
  let collector: Collector;
  let service: Service;
  let client: Client;
  let port: number;

  beforeAll(async () => {
    target.listen(0, '127.0.0.1');
    await once(target, 'listening');
    ({ port } = target.address() as AddressInfo);
    collector = await startCollector();
    service = await startService(data.folder, ['--allow', '127.0.0.0/8', '--probes', '1'], {
      METRICS_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      RATE_LIMIT_ME: '1',
    });
    client = createClient({ baseUrl: service.url });
  });

  afterAll(async () => {
    await service?.stop();
    await collector?.close();
    target.close();
    data.remove();
  });

  /** Scrapes until all lines are there, since some values are counted later or sampled once a second. */
  async function scrapeUntil(name: string, lines: readonly (string | RegExp)[]): Promise<string> {
    const giveUpAt = performance.now() + 90_000;
    for (;;) {
      const text = await scrape(name);
      const missing = lines.filter((line) =>
        typeof line === 'string' ? !text.split('\n').includes(line) : !line.test(text),
      );
      if (missing.length === 0) return text;
      if (performance.now() > giveUpAt) throw new Error(`${name} does not show:\n${missing.join('\n')}\n\n${text}`);
      await sleep(50);
    }
  }

  /** Reads the metrics of a process at the port that it has logged. */
  async function scrape(name: string): Promise<string> {
    const log = readFileSync(`${data.folder}/logs/${name}.log`, 'utf8');
    const metricsPort = /"metricsPort":(\d+)/.exec(log)?.[1];
    const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    return answer.text();
  }

  it('counts a check from the request to the result, and shows it in one trace', async () => {
    const done = await client.check({ type: 'tcp', host: '127.0.0.1', port });
    expect(done.status).toBe('completed');
    await fetch(`${service.url}/nowhere/${'x'.repeat(20)}`);
    for (let call = 0; call < 2; call += 1) await fetch(`${service.url}/me`);

    const coordinator = await scrapeUntil('coordinator', [
      'vantage_checks_created_total{type="tcp"} 1',
      'vantage_probe_runs_created_total{type="tcp"} 1',
      'vantage_results_total{type="tcp",result="success"} 1',
      'vantage_probe_results_total{probe="demo-1",result="success"} 1',
      'vantage_result_lag_seconds_count 1',
      'vantage_core_events_total{event="checks_created"} 1',
      'vantage_core_events_total{event="probes_timed_out"} 0',
      'vantage_http_request_duration_seconds_count{method="POST",route="/check",status="202",held="false"} 1',
      'vantage_http_request_duration_seconds_count{method="GET",route="other",status="404",held="false"} 1',
      'vantage_http_problems_total{type="not-found"} 1',
      'vantage_http_problems_total{type="rate-limited"} 1',
      'vantage_rate_limited_total{limit="show-caller"} 1',
      'vantage_redis_up 1',
      'vantage_http_event_streams_open 0',
      /^vantage_redis_round_trip_seconds_count [1-9]/m,
      /^vantage_probe_up\{probe="demo-1"\} (1|0\.5)$/m,
    ]);
    // Metrics have no data about clients or targets.
    expect(coordinator).not.toContain('127.0.0.1');
    expect(coordinator).not.toContain('xxxx');

    const agent = await scrapeUntil('demo-1', [
      'vantage_agent_jobs_total{type="tcp",result="success"} 1',
      'vantage_agent_job_duration_seconds_count{type="tcp"} 1',
      'vantage_agent_queue_wait_seconds_count 1',
      'vantage_agent_redis_up{connection="jobs"} 1',
      'vantage_agent_redis_reconnects_total{connection="results"} 0',
      'vantage_agent_jobs_running 0',
    ]);
    expect(agent).not.toContain('127.0.0.1');

    // Processes flush their telemetry when they exit.
    await service.stop();
    const spans = collector.spans();
    const named = (name: string) => spans.find((span) => span.name === name);
    const path = ['POST /check', 'create check', 'enqueue tcp', 'run tcp', 'commit result'].map(named);
    expect(path.map((span) => span?.name)).toEqual([
      'POST /check',
      'create check',
      'enqueue tcp',
      'run tcp',
      'commit result',
    ]);
    expect(new Set(path.map((span) => span?.traceId)).size).toBe(1);
    expect(path.slice(1).map((span) => span?.parentSpanId)).toEqual(path.slice(0, -1).map((span) => span?.spanId));
    expect(path.map((span) => span?.service)).toEqual([
      'vantage-coordinator',
      'vantage-coordinator',
      'vantage-coordinator',
      'vantage-probe-agent',
      'vantage-coordinator',
    ]);
    expect(named('run tcp')?.attributes['vantage.check.id']).toBe(done.testId);
    expect(JSON.stringify(path)).not.toContain('127.0.0.1');
  });
});
