import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import { readSettings } from '@vantage/settings';
import { afterEach, describe, expect, it } from '@jest/globals';

import { startCollector, type Collector } from '@vantage/test-support/trace-collector';
import { isTraceparent, openTracing, telemetrySettings, tracingConfig, type Tracing } from './index.ts';

const service = { name: 'trial', version: '1.2.3' };
const configOf = (environment: Readonly<Record<string, string>>) =>
  tracingConfig(readSettings(telemetrySettings, environment), service);

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function traced(
  sampler = 'parentbased_always_on',
  status = 200,
): Promise<{ tracing: Tracing; collector: Collector }> {
  const collector = await startCollector(status);
  closers.push(collector.close);
  const config = configOf({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER: sampler });
  return { tracing: await openTracing(config!), collector };
}

describe('the settings of traces', () => {
  it.each([
    ['nothing is set', {}, undefined],
    ['a base address', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, 'http://c:4318/v1/traces'],
    ['a base address with a slash', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c/x/' }, 'http://c/x/v1/traces'],
    [
      'a whole address is stronger',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://d/t' },
      'http://d/t',
    ],
    ['switched off', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_SDK_DISABLED: 'true' }, undefined],
  ])('say where they go: %s', (_, environment, url) => {
    expect(configOf(environment)?.url).toBe(url);
  });

  it('name the service as the specification says', () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c' };

    expect(configOf(endpoint)?.service.name).toBe('trial');
    expect(configOf({ ...endpoint, OTEL_SERVICE_NAME: 'own' })?.service.name).toBe('own');
  });
});

describe('a trace', () => {
  it('goes on through waits, and in another process from its traceparent', async () => {
    const { tracing, collector } = await traced();
    const request = tracing.start('request', { kind: 'server' });
    let carried: string | undefined;
    await request.run(async () => {
      await sleep(1);
      await tracing.around('inside', {}, async () => {
        await sleep(1);
        carried = tracing.traceparent();
      });
    });
    request.end();
    const elsewhere = tracing.start('elsewhere', { kind: 'consumer', traceparent: carried });
    elsewhere.end();
    await tracing.close();

    const named = Object.fromEntries(collector.spans().map((span) => [span.name, span]));
    expect(Object.keys(named).toSorted()).toEqual(['elsewhere', 'inside', 'request']);
    expect(named['inside']).toMatchObject({ parentSpanId: named['request']?.spanId, service: 'trial', kind: 1 });
    expect(named['elsewhere']).toMatchObject({ parentSpanId: named['inside']?.spanId, kind: 5 });
    expect(new Set(collector.spans().map(({ traceId }) => traceId)).size).toBe(1);
    expect(isTraceparent(carried)).toBe(true);
    expect([...collector.paths()]).toEqual(['/v1/traces']);
  });

  it('marks work that failed, and hands its error on', async () => {
    const { tracing, collector } = await traced();

    const work = tracing.around('work', { attributes: { 'vantage.probe': 'p1' } }, async () => {
      throw new RangeError('a stranger’s words');
    });

    await expect(work).rejects.toThrow(RangeError);
    await tracing.close();
    expect(collector.spans()).toMatchObject([{ name: 'work', failed: true, attributes: { 'vantage.probe': 'p1' } }]);
    expect(JSON.stringify(collector.spans())).not.toContain('stranger');
  });

  it('starts a new trace if a traceparent cannot be read', async () => {
    const { tracing, collector } = await traced();

    tracing.start('alone', { traceparent: '00-zz' }).end();
    await tracing.close();

    expect(collector.spans()).toMatchObject([{ name: 'alone', parentSpanId: '' }]);
  });

  it('is kept or not as the first span decided', async () => {
    const { tracing, collector } = await traced('parentbased_always_off');
    const root = tracing.start('root');
    expect(root.traceparent).toMatch(/-00$/);

    tracing.start('below', { traceparent: root.traceparent }).end();
    tracing.start('chosen', { traceparent: root.traceparent!.replace(/00$/, '01') }).end();
    root.end();
    await tracing.close();

    expect(collector.spans().map(({ name }) => name)).toEqual(['chosen']);
  });

  it('that the collector refuses costs nothing but itself', async () => {
    const { tracing, collector } = await traced('always_on', 400);

    tracing.start('refused').end();

    await expect(tracing.close()).resolves.toBeUndefined();
    expect(collector.spans()).toHaveLength(1);
  });
});

describe('a process without traces and metrics', () => {
  it('does not load their libraries', () => {
    const program = `
      const { registerHooks } = await import('node:module');
      const asked = [];
      registerHooks({ resolve: (specifier, context, next) => (asked.push(specifier), next(specifier, context)) });
      const { telemetrySettings, tracingConfig } = await import('@vantage/telemetry');
      const { readSettings } = await import('@vantage/settings');
      if (tracingConfig(readSettings(telemetrySettings, {}), { name: 'x', version: '1' }) !== undefined) process.exit(1);
      if (!asked.includes('@vantage/telemetry')) process.exit(2);
      console.log(JSON.stringify(asked.filter((specifier) => /opentelemetry|prom-client/.test(specifier))));`;
    const args = ['--conditions=vantage-source', '--input-type=module', '-e', program];

    const printed = execFileSync(process.execPath, args, { cwd: import.meta.dirname, encoding: 'utf8' });

    expect(JSON.parse(printed)).toEqual([]);
  });
});
