import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, type CheckOf, type CheckRequest, type Client } from '@vantage/client';
import type { Check } from '@vantage/contract';
import type { CheckTypeName } from '@vantage/diagnostics/contract';

import { validatingFetch, type ValidatingFetch } from '../test/validating-fetch.ts';
import { startService, temporaryFolder, type Service } from '../test/service.ts';
import { measureStalls } from '../test/stalls.ts';
import { PAGE, startTargets, type Targets } from '../test/targets.ts';

const probeIds = ['demo-1', 'demo-2', 'demo-3'];

/** True for root, and in CI, where raw sockets are required. CAP_NET_RAW would suffice, but is not looked for. */
const hasRawSockets = process.getuid?.() === 0 || process.env['CI'] !== undefined;

/** Time limit of a wait: normally a few seconds, more on a busy machine. */
const WAIT_LIMIT_MS = 120_000;
/** One attempt of a tcp check ends five seconds after the start, plus two promised seconds. */
const PROMISED_MS = 7_000;

describe('the whole service on one machine', () => {
  const data = temporaryFolder();
  let targets: Targets;
  let service: Service;
  let conformance: ValidatingFetch;
  let client: Client;

  beforeAll(async () => {
    targets = await startTargets(data.folder);
    service = await startService(`${data.folder}/data`, ['--allow', '127.0.0.0/8'], {
      DNS_SERVERS: `127.0.0.1:${targets.dnsPort}`,
      NODE_EXTRA_CA_CERTS: targets.caFile,
      RATE_LIMIT_CHECK: '100000',
      RATE_LIMIT_RESULTS: '100000',
    });
    conformance = await validatingFetch(service.url);
    client = createClient({ baseUrl: service.url, fetch: conformance.fetch });
  });

  afterAll(async () => {
    const status = await service?.stop();
    targets?.close();
    data.remove();
    expect(status).toBe(0);
  }, WAIT_LIMIT_MS);

  /** Runs a check and returns the final results of all probes. */
  async function check<Name extends CheckTypeName>(
    request: CheckRequest & { readonly type: Name },
  ): Promise<readonly CheckOf<Name>['results'][string][]> {
    const done = (await client.check(request)) as CheckOf<Name>;
    expect({ ...done, results: undefined }).toMatchObject({
      testId: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
      type: request.type,
      host: request.host,
      status: 'completed',
      completedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(Object.keys(done.results).toSorted()).toEqual(probeIds);
    return Object.values(done.results);
  }

  it('says where it runs, with which probes, and what to try', () => {
    expect(service.printed()).toContain(`curl -s ${service.url}/check`);
    for (const id of probeIds) expect(service.printed()).toContain(id);
  });

  it('notes every process that it runs', () => {
    expect(Object.keys(service.running().processes)).toEqual(['coordinator', ...probeIds]);
  });

  it('logs no error at an ordinary start', () => {
    const logs = ['coordinator', ...probeIds].map((name) => join(data.folder, 'data', 'logs', `${name}.log`));
    const lines = logs.flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'));
    const entries = lines.map((line) => JSON.parse(line) as { readonly level: number });

    expect(entries.length).toBeGreaterThanOrEqual(logs.length);
    expect(entries.filter(({ level }) => level >= 50)).toEqual([]);
  });

  it('lists the probes with their identities', async () => {
    const probes = await client.probes();

    expect(Object.keys(probes).toSorted()).toEqual(probeIds);
    expect(probes['demo-2']).toMatchObject({
      name: 'Demo probe 2, on this machine',
      datacenter: 'Demo datacenter 2',
      countryCode: 'QN',
      isp: 'Demo network 2',
      asNumber: 'AS64497',
      tags: ['demo'],
      ...(hasRawSockets ? { status: 'healthy' } : {}),
    });
  });

  it('measures a TCP port, open and closed', async () => {
    const open = await check({ type: 'tcp', host: '127.0.0.1', port: targets.tcpPort });
    const closed = await check({ type: 'tcp', host: '127.0.0.1', port: 9 });

    for (const result of open) {
      expect(result).toMatchObject({ result: 'success', state: 'open', resolvedIp: '127.0.0.1', error: null });
      expect(result.rt).toBeGreaterThan(0);
    }
    for (const result of closed) {
      expect(result).toMatchObject({ result: 'failure', state: 'closed', error: { code: 'connection_refused' } });
    }
  });

  it('measures a UDP port, open and closed', async () => {
    const open = await check({
      type: 'udp',
      host: '127.0.0.1',
      port: targets.udpPort,
      options: { payload: Buffer.from('hello').toString('hex') },
    });
    const closed = await check({ type: 'udp', host: '127.0.0.1', port: 9 });

    for (const result of open) {
      expect(result).toMatchObject({
        result: 'success',
        state: 'open',
        responseBytes: 5,
        response: Buffer.from('hello').toString('base64'),
      });
    }
    for (const result of closed) {
      expect(result).toMatchObject({ result: 'failure', state: 'closed', error: { code: 'port_unreachable' } });
    }
  });

  it('asks for DNS records, of names that exist and that do not', async () => {
    const found = await check({ type: 'dns', host: 'www.example.com', recordType: 'A' });
    const missing = await check({ type: 'dns', host: 'missing.example.com' });

    for (const result of found) {
      expect(result).toMatchObject({
        result: 'success',
        recordType: 'A',
        rcode: 'NOERROR',
        answers: [{ name: 'www.example.com.', type: 'A', ttl: 300, data: '127.0.0.1' }],
      });
    }
    for (const result of missing) {
      expect(result).toMatchObject({ result: 'failure', rcode: 'NXDOMAIN', error: { code: 'dns_nxdomain' } });
    }
  });

  it('fetches a page over HTTP', async () => {
    const results = await check({ type: 'http', host: `http://www.example.com:${targets.httpPort}/` });

    for (const result of results) {
      expect(result).toMatchObject({
        result: 'success',
        statusCode: 200,
        statusText: 'OK',
        resolvedIp: '127.0.0.1',
        bodyBytes: PAGE.length,
        bodySha256: createHash('sha256').update(PAGE).digest('hex'),
      });
      expect(result).not.toHaveProperty('sslSubject');
    }
  });

  it('fetches a page over HTTPS and tells of its certificate', async () => {
    const results = await check({ type: 'http', host: `https://secure.example.com:${targets.httpsPort}/` });

    for (const result of results) {
      expect(result).toMatchObject({
        result: 'success',
        statusCode: 200,
        sslSubject: 'secure.example.com',
        sslIssuer: 'Test Authority',
        sslVersion: 'TLSv1.3',
        sslValidFrom: expect.stringMatching(/Z$/),
        sslValidUntil: expect.stringMatching(/Z$/),
        tls: { authorized: true },
      });
    }
  });

  it('refuses a certificate for another name, keeps what it saw, and goes on when told to', async () => {
    const host = `https://other.example.com:${targets.httpsPort}/`;
    const refused = await check({ type: 'http', host });
    const insecure = await check({ type: 'http', host, insecureSSL: true });

    for (const result of refused) {
      expect(result).toMatchObject({
        result: 'failure',
        error: { code: 'tls_hostname_mismatch', phase: 'tls', source: 'target' },
        sslSubject: 'secure.example.com',
      });
      expect(result).not.toHaveProperty('statusCode');
    }
    for (const result of insecure) {
      expect(result).toMatchObject({ result: 'success', statusCode: 200, tls: { authorized: false } });
    }
  });

  it('looks up what is known of an address', async () => {
    const results = await check({ type: 'info', host: 'www.example.com' });

    for (const result of results) {
      expect(result).toMatchObject({ result: 'success', ip: '127.0.0.1', addresses: ['127.0.0.1'], countryCode: null });
    }
  });

  (hasRawSockets ? it : it.skip)('pings, by raw sockets', async () => {
    const results = await check({ type: 'ping', host: 'www.example.com', options: { count: 3, interval: 200 } });

    for (const result of results) {
      expect(result).toMatchObject({ result: 'success', pingCount: 3, pingCompleted: 3, loss: 0, error: null });
      expect(result.rt).toBe(result.rttAvg);
      expect(result.rttMin!).toBeLessThanOrEqual(result.rttAvg!);
      expect(result.rttAvg!).toBeLessThanOrEqual(result.rttMax!);
    }
  });

  (hasRawSockets ? it : it.skip)('traces a route, by raw sockets', async () => {
    const results = await check({ type: 'traceroute', host: 'www.example.com' });

    for (const result of results) {
      expect(result).toMatchObject({ result: 'success', reached: true, resolvedIp: '127.0.0.1' });
      expect(result.hops!.map(({ hop, ip }) => ({ hop, ip }))).toEqual([{ hop: 1, ip: '127.0.0.1' }]);
    }
  });

  it('refuses what the policy refuses, at the coordinator and at each probe', async () => {
    const literal = client.startCheck({ type: 'tcp', host: '192.168.1.1', port: 80 });

    await expect(literal).rejects.toMatchObject({ status: 403, problem: { title: 'The target is refused by policy' } });
    // The coordinator resolves no names, so the agents refuse this one.
    for (const result of await check({ type: 'tcp', host: 'private.example.com', port: 80 })) {
      expect(result).toMatchObject({ result: 'error', error: { code: 'target_refused_by_policy', source: 'probe' } });
    }
  });

  it('runs a check on the probes asked for alone', async () => {
    const done = await client.check({ type: 'tcp', host: '127.0.0.1', port: targets.tcpPort, locations: ['AS64498'] });

    expect(Object.keys(done.results)).toEqual(['demo-3']);
  });

  it.each([
    ['a field that does not exist', { type: 'ping', host: 'example.com', cuont: 3 }, '/cuont'],
    ['a missing port', { type: 'tcp', host: 'example.com' }, '/port'],
    ['an option out of bounds', { type: 'ping', host: 'example.com', options: { count: 17 } }, '/options/count'],
    ['an address of an odd form', { type: 'ping', host: '0177.0.0.1' }, '/host'],
    ['an unknown probe', { type: 'ping', host: 'example.com', probes: ['nowhere-1'] }, '/probes/0'],
  ])('answers 400 for %s, naming the field', async (_reason, body, path) => {
    const response = await conformance.fetch(`${service.url}/check`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: expect.arrayContaining([expect.objectContaining({ path })]),
    });
  });

  it('answers 404 for an id that is not there', async () => {
    await expect(client.results('AAAAAAAAAAAAAAAAAAAAAA')).rejects.toMatchObject({ status: 404 });
  });

  it('refuses the twenty-first of quick requests to one endpoint, and says when to come back', async () => {
    const responses: Response[] = [];
    for (let sent = 0; sent < 21; sent += 1) responses.push(await conformance.fetch(`${service.url}/me`));

    const refused = responses.find(({ status }) => status === 429);
    expect(responses.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 200), 429]);
    expect(Number(refused!.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it(
    'ends the share of an agent that is killed as interrupted, once the agent is back',
    async () => {
      // A long check, so that the agent is back well before its deadline.
      const { checkId } = await client.startCheck({
        ...(hasRawSockets
          ? { type: 'ping', host: '127.0.0.1', options: { count: 16, interval: 1_000 } }
          : { type: 'udp', host: '127.0.0.1', port: targets.silentPort, options: { attempts: 3 } }),
        probes: ['demo-1'],
      });
      const others = client.check({
        type: 'udp',
        host: '127.0.0.1',
        port: targets.silentPort,
        options: { attempts: 1 },
        probes: ['demo-2', 'demo-3'],
      });
      // A partial result proves that the job is running.
      while (Object.keys((await client.results(checkId)).results['demo-1']!).length < 2) await sleep(50);
      process.kill(service.running().processes['demo-1']!, 'SIGKILL');
      const done = await client.results(checkId, { waitSeconds: 25 });

      expect(done.status).toBe('completed');
      expect(done.results['demo-1']).toMatchObject({ result: 'error', error: { code: 'probe_interrupted' } });
      for (const result of Object.values((await others).results)) expect(result).toMatchObject({ result: 'timeout' });
    },
    WAIT_LIMIT_MS,
  );

  it(
    'ends the share of an agent that stays silent at the deadline',
    async () => {
      const frozen = service.running().processes['demo-2']!;
      const measure = async (): Promise<{ readonly done: Check; readonly tookMs: number }> => {
        const stalls = measureStalls();
        process.kill(frozen, 'SIGSTOP');
        try {
          const request = { type: 'tcp', host: '127.0.0.1', port: targets.tcpPort, probes: probeIds } as const;
          const { checkId } = await client.startCheck({ ...request, options: { attempts: 1 } });
          const done = (await client.results(checkId, { waitSeconds: 25 })) as Check;
          const tookMs = Date.parse(done.completedAt!) - Date.parse(done.createdAt) - stalls.stop();
          return { done, tookMs };
        } finally {
          stalls.stop();
          process.kill(frozen, 'SIGCONT');
        }
      };
      let { done, tookMs } = await measure();
      // A busy machine may hold up the coordinator or an agent unnoticed by this process: one of a few checks ends in time.
      for (
        let more = 3;
        more > 0 && (tookMs > PROMISED_MS || done.results['demo-3']?.['result'] !== 'success');
        more -= 1
      ) {
        while ((await client.probes())['demo-2']?.status === 'offline') await sleep(100);
        ({ done, tookMs } = await measure());
      }

      expect(tookMs).toBeLessThanOrEqual(PROMISED_MS);
      expect(done.results['demo-2']).toMatchObject({ result: 'timeout', error: { code: 'probe_timeout' } });
      expect(done.results['demo-3']).toMatchObject({ result: 'success' });
    },
    WAIT_LIMIT_MS,
  );

  it(
    'starts a coordinator again that is killed, and what was measured is still there',
    async () => {
      const { checkId } = await client.startCheck({ type: 'tcp', host: '127.0.0.1', port: targets.tcpPort });
      const before = await client.results(checkId, { waitSeconds: 25 });
      const killed = service.running().processes['coordinator']!;
      process.kill(killed, 'SIGKILL');

      for (let ready = false; !ready; await sleep(100)) {
        ready = (await fetch(`${service.url}/readyz`).catch(() => undefined))?.ok ?? false;
      }
      const after = await client.results(checkId);

      expect(after).toEqual(before);
      expect(service.running().processes['coordinator']).not.toBe(killed);
    },
    WAIT_LIMIT_MS,
  );

  it('answers every request as the OpenAPI document says', () => {
    expect(conformance.violations).toEqual([]);
    expect(conformance.checked()).toBeGreaterThan(40);
  });
});
