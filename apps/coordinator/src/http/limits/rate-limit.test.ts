import { afterEach, describe, expect, it } from '@jest/globals';

import { post, startHttpBed, type BedOptions, type HttpBed, type Question } from '../../../test/http-bed.ts';
import { CHECK_ID, highLimits } from '../../../test/http-fakes.ts';

let bed: HttpBed | undefined;

afterEach(async () => {
  await bed?.close();
  bed = undefined;
});

async function start(options: BedOptions = {}): Promise<HttpBed> {
  bed = await startHttpBed(options);
  return bed;
}

describe('the rate limits', () => {
  it('let twenty quick requests to an endpoint pass and answer the next with 429', async () => {
    const { ask } = await start({ rateLimits: { ...highLimits, listProbes: 20 } });

    const answers = await Promise.all(Array.from({ length: 21 }, () => ask('/probes')));

    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    const [{ headers, json }] = refused as [(typeof refused)[0]];
    const retryAfter = Number(headers.get('Retry-After'));
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(61);
    expect(headers.get('RateLimit')).toBe(`"list-probes"; r=0; t=${retryAfter}`);
    expect(headers.get('RateLimit-Policy')).toBe('"list-probes"; q=20; w=60');
    expect(json).toMatchObject({ detail: expect.stringContaining('20 requests a minute to GET /probes') });
  });

  it('count a check as often as its options make it an ordinary one, and say so', async () => {
    const { ask } = await start({ rateLimits: { ...highLimits, createCheck: 10 } });
    const check = (options: object) => ask('/check', post({ type: 'http', host: 'http://a.example/', options }));

    const first = await check({ maxBodyBytes: 1_048_576 });
    expect([first.status, first.headers.get('RateLimit')]).toEqual([202, expect.stringMatching(/; r=1;/)]);
    const refused = await check({ maxBodyBytes: 1_048_576 });
    expect([refused.status, refused.headers.get('RateLimit')]).toEqual([429, expect.stringMatching(/; r=1;/)]);
    expect(refused.json).toMatchObject({ detail: expect.stringContaining('This check counts as 9 requests') });
    expect((await check({})).status).toBe(202);
    expect((await check({})).status).toBe(429);
  });

  it.each([
    { type: 'ping', host: 'a.example' },
    { type: 'http', host: 'https://a.example/' },
    { type: 'tcp', host: 'a.example', port: 1 },
    { type: 'udp', host: 'a.example', port: 1 },
    { type: 'dns', host: 'a.example' },
    { type: 'traceroute', host: 'a.example' },
    { type: 'info', host: 'a.example' },
  ])('count a $type check without options as one request', async (body) => {
    const { ask } = await start({ rateLimits: { ...highLimits, createCheck: 20 } });

    const answer = await ask('/check', post(body));
    expect([answer.status, answer.headers.get('RateLimit')]).toEqual([202, expect.stringMatching(/; r=19;/)]);
  });

  it('admit a check that costs more than the limit into an empty window', async () => {
    const { ask } = await start({ rateLimits: { ...highLimits, createCheck: 5 } });
    const largest = { type: 'http', host: 'http://a.example/', options: { maxBodyBytes: 1_048_576 } };

    const answer = await ask('/check', post(largest));
    expect([answer.status, answer.headers.get('RateLimit')]).toEqual([202, expect.stringMatching(/; r=0;/)]);
    expect((await ask('/check', post({ type: 'ping', host: 'a.example' }))).status).toBe(429);
  });

  it.each([
    ['/probes/agents', 'GET /probes/agents'],
    [`/check/${CHECK_ID}/compare/${CHECK_ID}`, 'comparisons'],
    [`/check/${CHECK_ID}/badge.svg`, 'badges'],
    ['/metrics/monitors', '/metrics/monitors'],
  ])('name the endpoint that they refuse, also of several with one limit: %s', async (path, name) => {
    const { ask } = await start({ rateLimits: { ...highLimits, listProbes: 1, showSummary: 1, readMonitors: 1 } });

    await ask(path);
    expect((await ask(path)).json).toMatchObject({ status: 429, detail: expect.stringContaining(name) });
  });

  it('count each endpoint apart, and the pages not at all', async () => {
    const { ask } = await start({
      rateLimits: { ...highLimits, createCheck: 1, readCheck: 1, listProbes: 1, showCaller: 1 },
    });
    const statuses = async (path: string, init?: Question): Promise<number[]> => [
      (await ask(path, init)).status,
      (await ask(path, init)).status,
    ];

    expect(await statuses('/probes')).toEqual([200, 429]);
    expect(await statuses('/me')).toEqual([200, 429]);
    expect(await statuses(`/check/${CHECK_ID}/results`)).toEqual([404, 429]);
    expect(await statuses('/check', post({ type: 'tcp', host: 'a.example', port: 1 }))).toEqual([202, 429]);
    expect(await statuses('/docs')).toEqual([200, 200]);
    expect(await statuses('/healthz')).toEqual([200, 200]);
    expect(await statuses('/openapi.json')).toEqual([200, 200]);
  });

  it('count a request whatever becomes of it, and a preflight never', async () => {
    const { ask } = await start({ rateLimits: { ...highLimits, createCheck: 4 } });

    await ask('/check', { method: 'OPTIONS' });
    const answers = [
      await ask('/check', post('{')),
      await ask('/check', post({}, { 'Content-Type': 'text/plain' })),
      await ask('/check'),
      await ask('/check', post('x'.repeat(20_000))),
      await ask('/check', post({ type: 'tcp', host: 'a.example', port: 1 })),
    ];

    expect(answers.map(({ status }) => status)).toEqual([400, 415, 405, 413, 429]);
  });

  it('read nothing of a client that is over its limit', async () => {
    const { ask } = await start({ rateLimits: { ...highLimits, createCheck: 1 } });
    const valid = post({ type: 'tcp', host: 'a.example', port: 1 });

    const before = [(await ask('/check', valid)).status, (await ask('/check', valid)).status];
    const broken = await ask('/check', post('{'));

    expect(before).toEqual([202, 429]);
    expect(broken.status).toBe(429);
    const retryAfter = Number(broken.headers.get('Retry-After'));
    expect(retryAfter).toBeGreaterThan(0);
    expect(broken.headers.get('RateLimit')).toBe(`"create-check"; r=0; t=${retryAfter}`);
    expect(broken.json).toMatchObject({ detail: expect.stringContaining('1 requests a minute to POST /check') });
  });

  it('tell clients apart by what the trusted proxy says, and by nothing else', async () => {
    const { ask } = await start({ rateLimits: { ...highLimits, showCaller: 1 }, trustedProxies: 1 });
    const from = async (forwarded: string): Promise<number> =>
      (await ask('/me', { headers: { 'X-Forwarded-For': forwarded } })).status;

    expect(await from('203.0.113.1')).toBe(200);
    expect(await from('203.0.113.2')).toBe(200);
    expect(await from('198.51.100.7, 203.0.113.1')).toBe(429);
    expect(await from('::ffff:203.0.113.1')).toBe(429);
    expect(await from('2001:db8::1')).toBe(200);
    expect(await from('2001:db8::ffff:2')).toBe(429);
  });
});
