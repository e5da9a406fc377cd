import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';

import { followCounts, openMetrics, processMetrics, serveMetrics, type MetricsServer } from './index.ts';

const declared = {
  seen: { kind: 'counter', name: 'trial_seen_total', help: 'Seen.', labels: { kind: 'Which.' } },
  level: { kind: 'gauge', name: 'trial_level', help: 'Level.' },
  took: { kind: 'histogram', name: 'trial_took_seconds', help: 'Took.', buckets: [0.1, 1] },
} as const;

const open = (onFault: (error: unknown) => void = () => undefined) => openMetrics(declared, onFault);

async function serve(missing: readonly string[] = []): Promise<MetricsServer & { url: string }> {
  const metrics = await open();
  metrics.instruments.seen.inc({ kind: 'a' });
  const server = await serveMetrics({ host: '127.0.0.1', port: 0, metrics, missing: () => missing });
  return { ...server, url: `http://127.0.0.1:${server.port}` };
}

describe('metrics', () => {
  it('are served in the text format, declared ones together with those of the process', async () => {
    const server = await serve();

    const answer = await fetch(`${server.url}/metrics`);
    const text = await answer.text();

    expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect(text).toContain('# TYPE trial_seen_total counter\ntrial_seen_total{kind="a"} 1\n');
    expect(text).toContain('trial_took_seconds_bucket{le="0.1"} 0');
    expect(text).toContain('trial_level 0');
    await server.close();
  });

  it('are collected once for requests that are sent without reading an answer', async () => {
    let scrapes = 0;
    const scrape = (): Promise<string> => Promise.resolve(`${(scrapes += 1)}`);
    const metrics = { scrape, contentType: 'text/plain' };
    const server = await serveMetrics({ host: '127.0.0.1', port: 0, metrics, missing: () => [] });
    const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);

    socket.write('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_000));
    await once(socket.resume(), 'close');

    expect(scrapes).toBe(1);
    await server.close();
  });

  it('have the suffix _total for counters alone', async () => {
    const text = await (await open()).scrape();

    const wrong = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].filter(
      ([, name, type]) => name!.endsWith('_total') !== (type === 'counter'),
    );
    expect(wrong.map(([, name, type]) => `${name} ${type}`)).toEqual([]);
  });

  it('hold every metric of the process that is documented', async () => {
    const metrics = await open();

    const text = await metrics.scrape();

    expect(Object.keys(processMetrics).filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([]);
  });

  it('show a stall of the event loop, once, and nothing of the interval of samples', async () => {
    const metrics = await open();
    const lag = async (): Promise<number> =>
      Number(/^nodejs_eventloop_lag_p99_seconds (.+)$/m.exec(await metrics.scrape())![1]);

    const before = await lag();
    // Samples are intervals, so the first one needs two firings of its timer.
    await sleep(250);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    await sleep(250);

    expect(before).toBe(0);
    expect(await lag()).toBeGreaterThan(0.3);
    expect(await lag()).toBe(0);
  });

  it('are those of one opening: two in a process share nothing', async () => {
    const [first, second] = [await open(), await open()];
    first.instruments.seen.inc({ kind: 'only here' });

    expect(await second.scrape()).not.toContain('only here');
  });

  it('look before a scrape, and what cannot be looked at costs nothing else', async () => {
    const faults: unknown[] = [];
    const metrics = await open((error) => faults.push(error));
    metrics.onScrape(async () => {
      throw new Error('away');
    });
    metrics.onScrape(() => metrics.instruments.level.set(7));

    expect(await metrics.scrape()).toContain('trial_level 7');
    expect(faults).toHaveLength(1);
  });

  it('follow the counts of somebody else, from nothing and never down', async () => {
    const metrics = await open();
    const follow = followCounts(metrics.instruments.seen, 'kind');

    follow({ a: 0, b: 3 });
    follow({ a: 1, b: 5 });
    follow({ a: 1, b: 4 });

    const text = await metrics.scrape();
    expect(text).toContain('trial_seen_total{kind="a"} 1\n');
    expect(text).toContain('trial_seen_total{kind="b"} 5\n');
  });
});

describe('the server of the metrics', () => {
  it.each([
    ['a process that lacks nothing', [], 200, 'ok\n'],
    ['a process without its store', ['Redis does not answer.'], 503, 'Redis does not answer.\n'],
  ])('says whether it can work: %s', async (_, missing, status, body) => {
    const server = await serve(missing);

    const [ready, healthy] = await Promise.all([fetch(`${server.url}/readyz`), fetch(`${server.url}/healthz`)]);

    expect([ready.status, await ready.text()]).toEqual([status, body]);
    expect(healthy.status).toBe(200);
    await server.close();
  });

  it.each([
    ['another path', 'GET', '/', 404],
    ['another method', 'POST', '/metrics', 405],
    ['a query, which changes nothing', 'GET', '/metrics?x=1', 200],
  ])('answers %s', async (_, method, path, status) => {
    const server = await serve();

    expect((await fetch(server.url + path, { method })).status).toBe(status);
    await server.close();
  });

  it('refuses a port that is taken', async () => {
    const server = await serve();
    const metrics = await open();

    const second = serveMetrics({ host: '127.0.0.1', port: server.port, metrics, missing: () => [] });

    await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await server.close();
  });
});
