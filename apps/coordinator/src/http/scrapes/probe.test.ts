import { afterEach, describe, expect, it } from '@jest/globals';
import type { Check, Probe, Summary } from '@vantage/contract';
import type { Request } from 'express';

import { modulesOf, startHttpBed, type BedOptions, type HttpBed, post } from '../../../test/http-bed.ts';
import { CHECK_ID, highLimits } from '../../../test/http-fakes.ts';
import { StoreUnavailable } from '../../redis/store-errors.ts';
import { readScrape } from './scrape-request.ts';

const beds: HttpBed[] = [];
afterEach(async () => {
  for (const bed of beds.splice(0)) await bed.close();
});

async function start(options: BedOptions = {}): Promise<HttpBed> {
  const bed = await startHttpBed(options);
  beds.push(bed);
  return bed;
}

const now = new Date().toISOString();

function check(type: string, results: Check['results']): Check {
  return { testId: CHECK_ID, type, host: 'x', status: 'completed', createdAt: now, completedAt: now, results };
}

const common = { rt: 1, error: null, startedAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:00:00.250Z' };
const open = { ...common, result: 'success', resolvedIp: '127.0.0.1', state: 'open', port: 443, attempts: [] };
const silence = { code: 'timed_out', phase: 'connect', source: 'target', message: 'No reply arrived in time.' };
const filtered = {
  ...common,
  result: 'timeout',
  resolvedIp: '::1',
  state: 'filtered',
  port: 443,
  error: silence,
};

/** Parses the samples of the exposition format, by name and labels. */
function samples(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), line.slice(line.lastIndexOf(' ') + 1)]));
}

describe('GET /probe', () => {
  it('answers with the series of every probe, each with the label probe', async () => {
    const { ask, stored, created } = await start();
    stored.set(CHECK_ID, check('tcp', { 'fra-1': open, 'nyc-1': filtered }));

    const { status, headers, text } = await ask('/probe?target=192.0.2.1:443&module=tcp_connect');

    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('version=0.0.4');
    const seen = samples(text);
    expect(seen.get('probe_success{probe="fra-1"}')).toBe('1');
    expect(seen.get('probe_success{probe="nyc-1"}')).toBe('0');
    expect(seen.get('probe_duration_seconds{probe="fra-1"}')).toBe('0.25');
    expect(seen.get('probe_ip_protocol{probe="fra-1"}')).toBe('4');
    // The values of blackbox_exporter for the addresses of the two results.
    expect(seen.get('probe_ip_addr_hash{probe="fra-1"}')).toBe('3668918509');
    expect(seen.get('probe_ip_addr_hash{probe="nyc-1"}')).toBe('1751717746');
    expect(seen.get('vantage_probe_measured{probe="nyc-1"}')).toBe('1');
    expect(text).toContain(
      '# HELP probe_success Displays whether or not the probe was a success\n# TYPE probe_success gauge\n',
    );
    expect(created).toMatchObject([{ params: { host: '192.0.2.1', port: 443 }, steadyBy: '192.0.2.1:443', limit: 10 }]);
  });

  it('waits for whole milliseconds, which timers take', async () => {
    const waits: number[] = [];
    const read = async (_id: string, waitMs: number) => void waits.push(waitMs);
    const { ask } = await start({ checks: { read } });
    await ask('/probe?target=a.example:1&module=tcp_connect');
    expect(waits.map(Number.isInteger)).toEqual([true]);
  });

  it('has the time to resolve a name, which it asks of the agents', async () => {
    const { ask, stored, created } = await start();
    stored.set(CHECK_ID, check('tcp', { 'fra-1': { ...open, resolve: 12 }, 'nyc-1': open }));

    const seen = samples((await ask('/probe?target=a.example:443&module=tcp_connect')).text);

    expect(created).toMatchObject([{ params: { rules: { resolve: true } } }]);
    expect(seen.get('probe_dns_lookup_time_seconds{probe="fra-1"}')).toBe('0.012');
    // An agent of an earlier release does not send the time.
    expect(seen.has('probe_dns_lookup_time_seconds{probe="nyc-1"}')).toBe(false);
  });

  it('has the hops of a traceroute and the hash of the summary, once the trace has ended', async () => {
    const { ask, stored, created } = await start();
    const hopAt = (hop: number, ip: string | null) => ({
      hop,
      ip,
      private: false,
      hostname: null,
      hostnameVerified: null,
      asn: null,
      asName: null,
      latency: ip === null ? null : hop,
      rtts: ip === null ? [null] : [hop, hop + 2],
      icmp: null,
      mpls: [],
      responders: [],
    });
    const trace = {
      ...common,
      result: 'success',
      resolvedIp: '192.0.2.9',
      protocol: 'tcp',
      reached: true,
      stopReason: null,
      hops: [hopAt(1, '192.0.2.1'), hopAt(2, null), hopAt(3, '192.0.2.9')],
      flows: [],
      fullTtl: null,
      echo: null,
      pathMtu: null,
      mtuBlackHole: null,
      clock: null,
      loop: null,
    };
    const results = { 'fra-1': trace, 'nyc-1': { ...trace, result: 'pending' } } as unknown as Check['results'];
    stored.set(CHECK_ID, check('traceroute', results));

    const seen = samples((await ask('/probe?target=a.example:443&module=traceroute')).text);
    const summary = (await ask(`/check/${CHECK_ID}/summary`)).text;
    const { hash } = (JSON.parse(summary) as Summary).paths!.canonical!['fra-1']!;

    expect(created).toMatchObject([{ params: { host: 'a.example', options: { protocol: 'tcp', port: 443 } } }]);
    expect(seen.get('probe_success{probe="fra-1"}')).toBe('1');
    expect(seen.get('vantage_probe_hops{probe="fra-1"}')).toBe('3');
    expect(BigInt(seen.get('vantage_probe_path_hash{probe="fra-1"}')!).toString(16).padStart(13, '0')).toBe(
      hash.slice(0, 13),
    );
    expect(seen.get('vantage_probe_rtt_seconds_count{probe="fra-1"}')).toBe('2');
    expect(seen.get('probe_success{probe="nyc-1"}')).toBe('0');
    expect([...seen.keys()].filter((name) => /hops|hash.*nyc|rtt.*nyc/.test(name))).toEqual([
      'probe_ip_addr_hash{probe="nyc-1"}',
      'vantage_probe_hops{probe="fra-1"}',
    ]);
  });

  it('has no success of a trace whose answers are errors of the target’s address, by an agent of an earlier release', async () => {
    const { ask, stored } = await start();
    const ip = '192.0.2.9';
    const icmp = { type: 3, code: 1, mark: '!H', from: ip, count: 1 };
    const replies = [{ responder: 0, type: 3, code: 1 }];
    const router = { ip, private: false, hostname: null, hostnameVerified: null, asn: null, asName: null, rtts: [5] };
    const hop = { hop: 1, ...router, latency: 5, mpls: [], responders: [router], replies, icmp };
    const path = { protocol: 'tcp', reached: true, stopReason: 'completed', hops: [hop], flows: [], fullTtl: null };
    const trace = { ...common, result: 'success', resolvedIp: ip, ...path, clock: null };
    stored.set(CHECK_ID, check('traceroute', { 'fra-1': trace }));

    const seen = samples((await ask('/probe?target=192.0.2.9:443&module=traceroute')).text);

    expect(seen.get('probe_success{probe="fra-1"}')).toBe('0');
    expect(seen.get('vantage_probe_measured{probe="fra-1"}')).toBe('1');
  });

  it('passes the places on', async () => {
    const { ask, created } = await start();
    await ask('/probe?target=a.example:1&module=tcp_connect&probe=fra-1,nyc-1&probe=sgp-1');
    await ask('/probe?target=a.example:1&module=tcp_connect&location=de%2BAS3320&location=Japan&limit=3');
    expect(created).toMatchObject([
      { probes: ['fra-1', 'nyc-1', 'sgp-1'] },
      { locations: ['de+AS3320', 'Japan'], limit: 3 },
    ]);
  });

  it('is 200 with probe_success 0 for a probe that did not answer in time, and for one that could not measure', async () => {
    const { ask, stored } = await start();
    const offline = { ...open, result: 'error', startedAt: null, state: undefined, resolvedIp: null };
    stored.set(CHECK_ID, check('tcp', { 'fra-1': { result: 'pending' }, 'nyc-1': offline }));

    const { text } = await ask('/probe?target=192.0.2.1:443&module=tcp_connect');

    const seen = samples(text);
    expect(seen.get('probe_success{probe="fra-1"}')).toBe('0');
    expect(seen.get('probe_success{probe="nyc-1"}')).toBe('0');
    expect(seen.get('vantage_probe_measured{probe="nyc-1"}')).toBe('0');
  });

  it('has vantage_probe_measured 0 for a probe whose resolver fails while another one resolves the name', async () => {
    const { ask, stored } = await start();
    const error = { code: 'dns_refused', phase: 'resolve', source: 'resolver', message: 'The resolver refused.' };
    const unresolved = { ...common, result: 'failure', resolvedIp: null, error };
    stored.set(CHECK_ID, check('tcp', { 'fra-1': open, 'nyc-1': unresolved }));

    const seen = samples((await ask('/probe?target=a.example:443&module=tcp_connect')).text);

    expect(seen.get('vantage_probe_measured{probe="fra-1"}')).toBe('1');
    expect(seen.get('vantage_probe_measured{probe="nyc-1"}')).toBe('0');
  });

  it('is 503 if the coordinator stops before the probes have ended', async () => {
    const stopping = new AbortController();
    const { ask, stored } = await start({ stopping: stopping.signal });
    stored.set(CHECK_ID, { ...check('tcp', { 'fra-1': { result: 'pending' } }), status: 'pending', completedAt: null });
    stopping.abort();

    const { status, text } = await ask('/probe?target=192.0.2.1:443&module=tcp_connect');

    expect(status).toBe(503);
    expect(text).not.toContain('probe_success');
  });

  it('has vantage_probe_measured 0 for a probe whose clock made it accept a certificate that is out of date', async () => {
    const { ask, stored } = await start();
    const ended = { validFrom: '2025-01-01T00:00:00.000Z', validUntil: '2025-12-01T00:00:00.000Z' };
    const accepted = { authorized: true, faults: [], chain: [ended] };
    const answered = { ...common, result: 'success', resolvedIp: '127.0.0.1', statusCode: 200, httpVersion: '1.1' };
    stored.set(CHECK_ID, check('http', { 'fra-1': answered, 'nyc-1': { ...answered, tls: accepted } }));

    const seen = samples((await ask('/probe?target=https://a.example&module=http_2xx')).text);

    expect(seen.get('vantage_probe_measured{probe="fra-1"}')).toBe('1');
    expect(seen.get('vantage_probe_measured{probe="nyc-1"}')).toBe('0');
    expect(seen.get('probe_success{probe="nyc-1"}')).toBe('0');
  });

  const unavailable = async (): Promise<never> => {
    throw new StoreUnavailable('Redis does not answer');
  };
  it.each([
    ['Redis takes no check', { select: unavailable }],
    ['Redis goes away while the probes measure', { read: unavailable }],
    ['the record of the check is lost', { read: async () => undefined }],
  ])('is 503 if %s: an outage of Vantage is none of the target', async (_what, checks) => {
    const { ask } = await start({ checks });
    const { status, text } = await ask('/probe?target=192.0.2.1:443&module=tcp_connect');
    expect(status).toBe(503);
    expect(text).not.toContain('probe_success');
  });

  it.each(['NaN', 'Infinity', '-1', '1e400', '5, 5', '5s', 'null'])(
    'is 400 for a scrape timeout of %s',
    async (time) => {
      const { ask, created } = await start();
      const headers = { 'X-Prometheus-Scrape-Timeout-Seconds': time };
      const { status, json } = await ask('/probe?target=192.0.2.1:443&module=tcp_connect', { headers });
      expect(status).toBe(400);
      expect((json as { readonly detail: string }).detail).toBe(
        'X-Prometheus-Scrape-Timeout-Seconds: must be a number of seconds, 0 or more',
      );
      expect(created).toEqual([]);
    },
  );

  it.each(['0.2', '0.5'])('is 400 if neither a scrape timeout of %s nor the module leaves any time', async (time) => {
    const { ask, created } = await start();
    const headers = { 'X-Prometheus-Scrape-Timeout-Seconds': time };
    const { status, json } = await ask('/probe?target=192.0.2.1:443&module=tcp_connect', { headers });
    expect([status, (json as { readonly detail: string }).detail]).toEqual([
      400,
      expect.stringContaining('X-Prometheus-Scrape-Timeout-Seconds: must be more than 0.5'),
    ]);
    expect(created).toEqual([]);
  });

  it.each([
    ['the time of the module', '10', 'm', 3_000],
    ['the time of Prometheus less half a second', '10', 'n', 9_500],
    ['at most as long as any client', '', 'n', 25_000],
    ['the time of Prometheus, if it is less than that of the module', '2', 'm', 1_500],
    ['at most as long as any client, whatever Prometheus has', '1e9', 'n', 25_000],
    ['at most as long as any client for a time of 0, as blackbox_exporter does', '0', 'n', 25_000],
    ['the time of the module, if Prometheus leaves none', '0.2', 'm', 3_000],
    ['the time of the module, if Prometheus has that of the answer alone', '0.5', 'm', 3_000],
  ])('takes %s', (_what, timeout, module, budgetMs) => {
    const modules = modulesOf('modules: {m: {prober: tcp, timeout: 3s}, n: {prober: tcp}}');
    const request = { originalUrl: `/probe?target=a:1&module=${module}`, get: () => timeout } as unknown as Request;
    expect(readScrape(request, modules).budgetMs).toBe(budgetMs);
  });

  it.each([
    ['no target', '/probe?module=tcp_connect', '?target: is required'],
    ['an unknown module', '/probe?target=a.example&module=nope', '?module: there is no module "nope"'],
    ['a refused target', '/probe?target=10.0.0.1&module=icmp', '?target: 10.0.0.1 is in 10.0.0.0/8'],
    ['a malformed target', '/probe?target=x.invalid&module=icmp', '?target: The host has an odd form.'],
    ['a refused DNS server', '/probe?target=10.0.0.1&module=dns', '?target: 10.0.0.1 is in 10.0.0.0/8'],
    ['a target without a port', '/probe?target=a.example&module=tcp_connect', '?target: must be host:port'],
    ['a limit that is none', '/probe?target=a.example&module=icmp&limit=many', '?limit: '],
    ['a limit of 0', '/probe?target=a.example&module=icmp&limit=0', '?limit: '],
    ['a probe with an odd name', '/probe?target=a.example&module=icmp&probe=A_1', '?probe: '],
    ['a host name for icmp', '/probe?target=a.example&module=icmp&hostname=b.example', '?hostname: is for modules'],
    ['a host name that is none', '/probe?target=a.example&hostname=b%20c', '?hostname: must be a host'],
    ['a word for debug', '/probe?target=a.example&debug=maybe', '?debug: must be true or false'],
    ['two targets', '/probe?target=a.example&target=b.example', '?target: must be given once'],
    ['two modules', '/probe?target=a.example&module=icmp&module=dns', '?module: must be given once'],
    [
      'a parameter that does not exist',
      '/probe?target=a.example&locations=DE',
      '?locations: is not a known parameter; did you mean location?',
    ],
    [
      'a target with an API key, which agents and the target would get',
      `/probe?target=http://a.example/?key=vtg%255Fabcd1234_${'x'.repeat(43)}`,
      '?target: has an API key',
    ],
    [
      'a probe and a location',
      '/probe?target=a.example&probe=fra-1&location=DE',
      '?location: cannot be combined with `probe`: choose one of the two',
    ],
    ['a host name that the policy refuses', '/probe?target=a.example&hostname=10.0.0.1', '?hostname: 10.0.0.1 is in'],
  ])('is 400 for %s: a scrape that is set up wrong is no outage', async (_why, path, detail) => {
    const { ask, created } = await start();
    const { status, json } = await ask(path);
    expect(status).toBe(400);
    expect((json as { readonly detail: string }).detail).toContain(detail);
    expect(created).toEqual([]);
  });

  it.each([
    [
      'without a module and a target',
      '/probe?module=nope&limit=0&debug=1&hostname=b%20c&probes=x',
      ['?debug', '?hostname', '?limit', '?module', '?probes', '?target', 'X-Prometheus-Scrape-Timeout-Seconds:'],
    ],
    [
      'with a target that is refused',
      '/probe?module=tcp_connect&target=10.0.0.1:25&limit=0&debug=1',
      ['?debug', '?limit', '?target', 'X-Prometheus-Scrape-Timeout-Seconds:'],
    ],
    [
      'with a target of an odd form',
      '/probe?module=tcp_connect&target=a.example&probe=A_1',
      ['?probe', '?target', 'X-Prometheus-Scrape-Timeout-Seconds:'],
    ],
  ])('names every fault at once: %s', async (_what, path, parameters) => {
    const { ask } = await start();
    const { status, json } = await ask(path, { headers: { 'X-Prometheus-Scrape-Timeout-Seconds': 'soon' } });
    const { errors } = json as { readonly errors: readonly { readonly path: string }[] };
    expect([status, errors.map((error) => error.path).toSorted()]).toEqual([400, parameters]);
  });

  it('is 400 for a token server that the policy refuses', async () => {
    const modules = modulesOf(
      'modules: {m: {prober: http, http: {oauth2: {client_id: c, client_secret: hidden, token_url: "http://10.0.0.1/"}}}}',
    );
    const { ask, created } = await start({ modules: { current: () => modules } });
    const { status, json } = await ask('/probe?target=a.example&module=m');
    expect([status, created]).toEqual([400, []]);
    expect(json).toMatchObject({
      errors: [{ path: '?module', message: 'token_url: 10.0.0.1 is in 10.0.0.0/8 (Private-Use).' }],
    });
  });

  it('names the line and the option of a module that cannot be run', async () => {
    const modules = modulesOf('modules:\n  g:\n    prober: grpc\n');
    const { ask } = await start({ modules: { current: () => modules } });
    const { status, json } = await ask('/probe?target=a.example&module=g');
    expect(status).toBe(400);
    expect((json as { readonly detail: string }).detail).toContain('module "g" cannot be run: line 3: prober: "grpc"');
  });

  it('sends expressions about the body to the agents, and does not trust an agent that does not know them', async () => {
    const modules = modulesOf('modules: {m: {prober: http, http: {fail_if_body_not_matches_regexp: [ok]}}}');
    const { ask, stored, created } = await start({ modules: { current: () => modules } });
    const response = {
      ...common,
      result: 'success',
      resolvedIp: '192.0.2.1',
      statusCode: 200,
      url: 'http://a.example/',
    };
    const old = { ...response, headers: [], headerCount: 0, truncated: false };
    stored.set(CHECK_ID, check('http', { 'fra-1': old, 'nyc-1': { ...old, bodyMatches: [true] } }));

    const seen = samples((await ask('/probe?target=a.example&module=m')).text);

    expect(created).toMatchObject([{ params: { rules: { body: ['ok'] }, options: { maxBodyBytes: 1_048_576 } } }]);
    expect(seen.get('probe_success{probe="fra-1"}')).toBe('0');
    expect(seen.get('vantage_probe_measured{probe="fra-1"}')).toBe('0');
    expect(seen.get('probe_success{probe="nyc-1"}')).toBe('1');
    expect(seen.get('vantage_probe_measured{probe="nyc-1"}')).toBe('1');
  });

  it('sends the dialogue of a module to the agents, and does not trust an agent that holds none', async () => {
    const text = 'modules: {m: {prober: tcp, tcp: {query_response: [{expect: ^220, send: "PASS hidden"}]}}}';
    const modules = modulesOf(text);
    const { ask, stored, created } = await start({ modules: { current: () => modules } });
    const held = { ...open, dialogue: { steps: 1, unmatched: false } };
    const closed = { ...held, result: 'failure', error: silence, dialogue: { steps: 0, unmatched: true } };
    const headers = { 'X-Prometheus-Scrape-Timeout-Seconds': '10' };
    const scrape = async (results: Check['results']): Promise<string> => {
      stored.set(CHECK_ID, check('tcp', results));
      return (await ask('/probe?target=192.0.2.1:21&module=m&debug=true', { headers })).text;
    };
    const of = (text: string, probe: string): readonly unknown[] =>
      ['probe_success', 'vantage_probe_measured', 'probe_failed_due_to_regex'].map((name) =>
        samples(text).get(`${name}{probe="${probe}"}`),
      );

    const first = await scrape({ 'fra-1': open, 'nyc-1': held });
    expect([of(first, 'fra-1'), of(first, 'nyc-1')]).toEqual([
      ['0', '0', '0'],
      ['1', '1', '0'],
    ]);
    const second = await scrape({ 'fra-1': closed, 'nyc-1': held });
    expect(of(second, 'fra-1')).toEqual(['0', '1', '1']);

    const steps = [{ expect: '^220', send: 'PASS hidden', startTls: false }];
    const rules = { dialogue: { timeoutMs: 9_500, tls: false, steps } };
    expect(created).toMatchObject([{ params: { rules } }, { params: { rules } }]);
    expect(second).toContain(String.raw`(query_response, entry 0, expect \"^220\")`);
    expect(second).not.toContain('hidden');
  });

  it.each([
    ['http', { host: 'https://a.example/', rules: { body: ['a'] } }],
    ['http', { host: 'https://a.example/', rules: { request: { method: 'POST', body: 'a' } } }],
    ['http', { host: 'https://a.example/', options: { rules: { request: { method: 'POST', body: 'a' } } } }],
    ['tcp', { host: 'a.example', port: 80, rules: { dialogue: { steps: [{ send: 'a' }] } } }],
    ['tcp', { host: 'a.example', port: 80, options: { rules: { dialogue: { steps: [{ send: 'a' }] } } } }],
  ])('is the only way to set rules of %s: a request of a client cannot', async (type, body) => {
    const { ask, created } = await start();
    expect((await ask('/check', post({ type, ...body }))).status).toBe(400);
    expect(created).toEqual([]);
  });

  it('refuses clients outside of the networks of the settings, before anything else', async () => {
    const { ask, created } = await start({ scrapeNetworks: ['192.0.2.0/24'] });
    expect((await ask('/probe?target=a.example&module=icmp')).status).toBe(403);
    expect((await ask('/sd')).status).toBe(403);
    expect(created).toEqual([]);
  });

  it.each([['/probe?target=a.example&module=icmp'], ['/sd'], ['/sd/agents']])(
    'says of %s that a key is not valid, or not known yet, not that there is none',
    async (path) => {
      let found: unknown = { refused: 'expired' };
      const keys = { find: () => found as never, poll: async () => undefined };
      const { ask } = await start({ scrapeNetworks: [], keys });
      const headers = { Authorization: 'Bearer vtg_x' };
      const expired = await ask(path, { headers });
      expect([expired.status, expired.headers.get('WWW-Authenticate')]).toEqual([401, expect.any(String)]);
      found = 'unread';
      expect((await ask(path, { headers })).status).toBe(503);
    },
  );

  it('lets a key with the scope scrape from anywhere', async () => {
    const key = { id: 'k', name: 'grafana', scopes: ['check'], limit: 600, allow: [], expiresAt: null } as never;
    const keys = { find: () => ({ key }), poll: async () => undefined };
    const { ask, stored } = await start({ scrapeNetworks: [], keys });
    stored.set(CHECK_ID, check('ping', { 'fra-1': { result: 'pending' } }));
    const headers = { Authorization: 'Bearer vtg_x' };
    expect((await ask('/probe?target=a.example&module=icmp', { headers })).status).toBe(200);
    expect((await ask('/sd', { headers })).status).toBe(403);
    expect((await ask('/probe?target=a.example&module=icmp')).status).toBe(403);
  });

  it.each([['/probe?target=a.example&module=icmp'], ['/sd'], ['/sd/agents']])(
    'is sent whole whatever the client has: %s',
    async (path) => {
      const { ask, stored } = await start();
      stored.set(CHECK_ID, check('ping', { 'fra-1': { result: 'pending' } }));
      const first = await ask(path);
      const again = await ask(path, { headers: { 'If-None-Match': first.headers.get('ETag') ?? '*' } });
      expect([first.status, again.status]).toEqual([200, 200]);
    },
  );

  it('counts at the limit of scrapes', async () => {
    const { ask, stored } = await start({ rateLimits: { ...highLimits, scrape: 1 } });
    stored.set(CHECK_ID, check('ping', { 'fra-1': { result: 'pending' } }));
    expect((await ask('/probe?target=a.example&module=icmp')).status).toBe(200);
    expect((await ask('/probe?target=a.example&module=icmp')).status).toBe(429);
  });

  it('shows reasons, metrics and the module without its credentials with debug=true', async () => {
    const modules = modulesOf('modules: {m: {prober: http, http: {basic_auth: {username: u, password: hidden}}}}');
    const { ask, stored } = await start({ modules: { current: () => modules } });
    const refused = { ...silence, code: 'connection_refused', message: 'The target refused the connection.' };
    stored.set(
      CHECK_ID,
      check('http', { 'fra-1': { ...common, result: 'failure', resolvedIp: '192.0.2.1', error: refused } }),
    );

    const { text } = await ask('/probe?target=a.example&module=m&debug=true&probe=fra-1');

    expect(text).toContain('probe=fra-1 reason="The target refused the connection."');
    expect(text).toContain('probe_http_status_code{probe="fra-1"} 0');
    expect(text).toContain('Authorization: <secret>');
    expect(text).not.toContain(Buffer.from('u:hidden').toString('base64'));
  });
});

const frankfurt: Probe = {
  name: 'Frankfurt',
  datacenter: 'fra',
  countryCode: 'DE',
  isp: 'Example',
  asNumber: 'AS64500',
  city: null,
  latitude: null,
  longitude: null,
  tags: ['eu', 'bare-metal'],
  reason: null,
  version: null,
  status: 'healthy',
  capabilities: null,
  lastSeen: null,
  load: null,
};

describe('GET /sd', () => {
  const probe = frankfurt;

  it('has one target group for each probe and each target', async () => {
    const probes = {
      list: async () => ({ 'fra-1': probe, 'nyc-1': probe }),
      agents: async () => ({}),
      metricsAddresses: async () => new Map(),
    };
    const { ask } = await start({ probes, publicUrl: 'https://vantage.example/net' });

    const { status, json } = await ask('/sd?module=icmp&target=a.example&target=b.example');

    expect(status).toBe(200);
    expect(json).toHaveLength(4);
    expect((json as readonly unknown[])[1]).toEqual({
      targets: ['vantage.example'],
      labels: {
        __scheme__: 'https',
        __metrics_path__: '/net/probe',
        __param_module: 'icmp',
        __param_probe: 'fra-1',
        __param_target: 'b.example',
        instance: 'b.example',
        probe: 'fra-1',
        __meta_vantage_probe: 'fra-1',
        __meta_vantage_name: 'Frankfurt',
        __meta_vantage_country: 'DE',
        __meta_vantage_city: '',
        __meta_vantage_datacenter: 'fra',
        __meta_vantage_isp: 'Example',
        __meta_vantage_asn: 'AS64500',
        __meta_vantage_status: 'healthy',
        __meta_vantage_tags: ',eu,bare-metal,',
      },
    });
  });

  it.each([
    ['a module that cannot be run', '/sd?module=nope', ['?module']],
    ['faults of all parameters', '/sd?module=nope&modul=icmp&target=', ['?modul', '?target', '?module']],
  ])('refuses %s', async (_what, path, parameters) => {
    const { ask } = await start();
    const { status, json } = await ask(path);
    const { errors } = json as { readonly errors: readonly { readonly path: string }[] };
    expect([status, errors.map((error) => error.path)]).toEqual([400, parameters]);
  });
});

describe('GET /sd/agents', () => {
  const probes = {
    list: async () => ({ 'fra-1': { ...frankfurt, status: 'offline' as const }, 'nyc-1': frankfurt }),
    agents: async () => ({}),
    // A probe that is no longer listed has no target.
    metricsAddresses: async () => new Map(Object.entries({ 'fra-1': '192.0.2.5:9464', 'old-1': '192.0.2.6:9464' })),
  };

  it('has the agents whose metrics have an address, also those that are offline', async () => {
    const { ask } = await start({ probes });

    const { status, json } = await ask('/sd/agents');

    expect(status).toBe(200);
    expect(json).toMatchObject([
      { targets: ['192.0.2.5:9464'], labels: { probe: 'fra-1', __meta_vantage_status: 'offline' } },
    ]);
    expect(Object.keys((json as [{ readonly labels: object }])[0].labels)).not.toContain('__param_probe');
  });

  it('is for scrapes alone, and refuses parameters', async () => {
    const outside = await start({ probes, scrapeNetworks: ['192.0.2.0/24'] });
    expect((await outside.ask('/sd/agents')).status).toBe(403);
    const { ask } = await start({ probes });
    expect(await ask('/sd/agents?target=a.example')).toMatchObject({
      status: 400,
      json: { detail: '?target: is not a known parameter; there are none' },
    });
    expect((await ask('/sd/agents', { method: 'POST' })).status).toBe(405);
  });
});
