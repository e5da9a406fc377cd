import { afterEach, describe, expect, it } from '@jest/globals';

import { post, startHttpBed, type HttpBed, type Seen } from '../../../test/http-bed.ts';
import { highLimits, highTargetLimits } from '../../../test/http-fakes.ts';
import type { TargetLimits } from './target-axes.ts';

let bed: HttpBed | undefined;

afterEach(async () => {
  await bed?.close();
  bed = undefined;
});

/** Starts the HTTP layer with limits; returns a function that posts a check, which would run from two probes. */
async function start(limits: Partial<TargetLimits>, createCheck = 1e6): Promise<(body: object) => Promise<Seen>> {
  bed = await startHttpBed({
    rateLimits: { ...highLimits, createCheck },
    targetLimits: { ...highTargetLimits, ...limits },
  });
  const { ask } = bed;
  return (body) => ask('/check', post(body));
}

async function statuses(ask: (body: object) => Promise<Seen>, bodies: readonly object[]): Promise<number[]> {
  const seen = [];
  for (const body of bodies) seen.push((await ask(body)).status);
  return seen;
}

const dns = (host: string, more: object = {}): object => ({ type: 'dns', host, ...more });
const tcp = (host: string, port: number): object => ({ type: 'tcp', host, port });

describe('the limits of targets', () => {
  it('count probe-runs at a registrable domain, whatever is asked of which name below it', async () => {
    const ask = await start({ target: 6 });

    expect(
      await statuses(ask, [
        dns('a.example.com'),
        tcp('b.example.com', 443),
        { type: 'http', host: 'https://www.Example.com:8443/x', options: { screenshot: false } },
        dns('example.com'),
        dns('example.net'),
        dns('xn--bcher-kva.example.com'),
      ]),
    ).toEqual([202, 202, 202, 429, 202, 429]);
  });

  it('count literal addresses by their /24 or /64', async () => {
    const ask = await start({ target: 4 });
    const hosts = [
      '192.0.2.1',
      '192.0.2.2',
      '192.0.2.3',
      '192.0.3.1',
      '2001:db8::1',
      '2001:DB8:0:0:ffff::2',
      '2001:db8::3',
      '2001:db8:0:1::1',
    ];

    expect(
      await statuses(
        ask,
        hosts.map((host) => tcp(host, 80)),
      ),
    ).toEqual([202, 202, 429, 202, 202, 202, 429, 202]);
    const { status, json } = await ask({ type: 'http', host: 'http://[2001:db8::4]/' });
    expect(status).toBe(429);
    expect(json).toMatchObject({ detail: expect.stringContaining(' a minute at 2001:db8::/64 is reached') });
  });

  it('say which limit it was, for how long, and what is left of both', async () => {
    const ask = await start({ target: 3 }, 20);

    await ask(dns('example.com'));
    const { status, headers, json } = await ask(dns('www.example.com'));

    expect(status).toBe(429);
    const retryAfter = Number(headers.get('Retry-After'));
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(61);
    expect(headers.get('RateLimit')).toMatch(
      new RegExp(`^"create-check"; r=18; t=\\d+, "target"; r=1; t=${retryAfter}$`),
    );
    expect(headers.get('RateLimit-Policy')).toBe('"create-check"; q=20; w=60, "target"; q=3; w=60');
    expect(json).toMatchObject({
      type: expect.stringMatching(/\/problems\/rate-limited$/),
      detail:
        'The limit of 3 probe-runs a minute at example.com is reached, over all callers. This check would have cost 2.',
    });
  });

  it('weigh a check by its type, and admit any into an empty window', async () => {
    const ask = await start({ target: 5, costs: new Map([['traceroute', 3]]) });

    expect(
      await statuses(ask, [
        { type: 'traceroute', host: 'example.com' },
        dns('example.com'),
        dns('example.net'),
        dns('example.net'),
        dns('example.net'),
      ]),
    ).toEqual([202, 429, 202, 202, 429]);
  });

  it.each([
    ['1 with its default options and no picture', { options: { screenshot: false } }, 1],
    ['9 with a body of one mebibyte', { options: { screenshot: false, maxBodyBytes: 1_048_576 } }, 9],
    ['8 more with a picture', {}, 5],
  ])('count an http check from two probes as two times %s', async (_reason, more, each) => {
    const ask = await start({ target: 2 * each });
    const check = { type: 'http', host: 'http://example.com/', ...more };

    // The first check uses up the window exactly.
    expect(await statuses(ask, [check, dns('example.com')])).toEqual([202, 429]);
    await bed!.close();
    const wide = await start({ target: 2 * each + 2 });
    expect(await statuses(wide, [check, dns('example.com'), dns('example.com')])).toEqual([202, 202, 429]);
  });

  it('count a traceroute by its packets', async () => {
    const ask = await start({ target: 2 * 4 + 2 * 14 });
    const largest = { type: 'traceroute', host: 'example.com', options: { maxHops: 4, queries: 10, flows: 16 } };

    expect(await statuses(ask, [{ type: 'traceroute', host: 'example.com' }, largest, dns('example.com')])).toEqual([
      202, 202, 429,
    ]);
  });

  it('count what the caller chose to contact besides', async () => {
    const ask = await start({ target: 2 });

    expect(
      await statuses(ask, [
        dns('a.example', { options: { resolver: '192.0.2.53' } }),
        dns('b.example', { options: { resolver: '192.0.2.53' } }),
        dns('b.example'),
      ]),
    ).toEqual([202, 429, 202]);
  });

  it('count the different ports of a target over all callers, and those again that are known', async () => {
    const ask = await start({ targetPorts: 2 });

    expect(
      await statuses(ask, [
        tcp('a.example.com', 80),
        tcp('b.example.com', 443),
        tcp('example.com', 80),
        tcp('example.com', 22),
        { type: 'traceroute', host: 'example.com', options: { protocol: 'tcp', port: 23 } },
        tcp('example.net', 22),
      ]),
    ).toEqual([202, 202, 202, 429, 429, 202]);
  });

  it.each([
    ['ports of a target over all callers', { targetPorts: 2 }],
    ['pairs of one client', { clientTargets: 2 }],
  ])('count the port of a URL like that of tcp, except 80 and 443: %s', async (_axis, limits) => {
    const ask = await start(limits);
    const http = (url: string): object => ({ type: 'http', host: url, options: { screenshot: false } });

    expect(
      await statuses(ask, [
        http('http://www.example.com/'),
        http('http://example.com:443/'),
        http('https://example.com:80/'),
        http('http://a.example.com:8080/'),
        http('https://example.com:8443/'),
        tcp('example.com', 8080),
        http('http://example.com:22/'),
        tcp('example.com', 22),
      ]),
    ).toEqual([202, 202, 202, 202, 202, 202, 429, 429]);
  });

  it.each([
    ['ports of a network over all callers', { targetPorts: 3 }],
    ['pairs of one client', { clientTargets: 3 }],
  ])('count a port of each address of one network as another: %s', async (_axis, limits) => {
    const ask = await start(limits);

    expect(
      await statuses(ask, [
        tcp('192.0.2.1', 80),
        tcp('192.0.2.2', 80),
        tcp('192.0.2.2', 443),
        tcp('192.0.2.3', 80),
        tcp('192.0.2.1', 80),
      ]),
    ).toEqual([202, 202, 202, 429, 202]);
  });

  it('count the different pairs of target and port of one client', async () => {
    const ask = await start({ clientTargets: 2 });

    expect(
      await statuses(ask, [
        tcp('example.com', 80),
        tcp('example.net', 80),
        tcp('example.org', 80),
        tcp('www.example.net', 80),
        { type: 'ping', host: 'example.org' },
      ]),
    ).toEqual([202, 202, 429, 202, 202]);
  });

  it('charge no target for what is refused before', async () => {
    const ask = await start({ target: 2 }, 3);

    expect(
      await statuses(ask, [
        { type: 'tcp', host: 'example.com' },
        { type: 'tcp', host: 'example.com', port: 'x' },
        tcp('example.com', 80),
        tcp('example.com', 80),
      ]),
    ).toEqual([400, 400, 202, 429]);
    // The limit of the client refuses the last request before any target is charged.
    expect(bed!.created).toHaveLength(1);
  });
});
