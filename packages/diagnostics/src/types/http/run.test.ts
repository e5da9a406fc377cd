import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';

import { afterEach, describe, expect, it } from '@jest/globals';
import { partialResultSchema } from '@vantage/contract';
import { Value } from 'typebox/value';

import { testContext } from '@vantage/test-support/context';
import { checkOf, paramsOf, problemsOf } from '../../../test/http.ts';
import { servers } from '@vantage/test-support/loopback';
import { ipv6Missing, itNeeding } from '@vantage/test-support/needs';
import { http } from './contract.ts';
import type { Http } from './types.ts';
import { runHttp } from './run.ts';

const itWithIpv6 = itNeeding(ipv6Missing(), process.env['CI']);

const { start, closeAll } = servers();
if (!hasCurl() && process.env['CI'] !== undefined) throw new Error('In CI these tests need curl.');
const itWithCurl = hasCurl() ? it : it.skip;

afterEach(closeAll);

describe('an http check', () => {
  it('gives every field of a plain answer', async () => {
    const port = await serve((_request, response) => {
      response.writeHead(
        200,
        'Fine',
        [
          ['X-Twice', 'a'],
          ['x-other', 'b'],
          ['X-Twice', 'c'],
        ].flat(),
      );
      response.end('hello');
    });

    const outcome = await checkOf(`http://127.0.0.1:${port}/path?q=1`);

    expect(outcome).toMatchObject({
      result: 'success',
      error: null,
      resolvedIp: '127.0.0.1',
      url: `http://127.0.0.1:${port}/path?q=1`,
      statusCode: 200,
      statusText: 'Fine',
      httpVersion: '1.1',
      location: null,
      redirects: [],
      bodyBytes: 5,
      bodySha256: createHash('sha256').update('hello').digest('hex'),
      truncated: false,
    });
    expect(outcome.headers?.slice(0, 3)).toEqual([
      ['X-Twice', 'a'],
      ['x-other', 'b'],
      ['X-Twice', 'c'],
    ]);
    expect(Object.keys(outcome)).not.toContain('tls');
    expect(Object.keys(outcome).filter((key) => key.startsWith('ssl'))).toEqual([]);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('has phases that add up to the total, and an rt between the first byte and the end', async () => {
    const port = await serve((_request, response) => {
      response.write('a');
      setTimeout(() => response.end('b'), 30);
    });

    const { rt, timings } = await checkOf(`http://127.0.0.1:${port}/`);

    const { dns, connect, firstByte, download, total } = timings as Required<NonNullable<typeof timings>>;
    expect(Object.keys(timings ?? {}).toSorted()).toEqual(['connect', 'dns', 'download', 'firstByte', 'total']);
    expect(total).toBeCloseTo(dns + connect + firstByte + download, 6);
    expect(rt).toBeGreaterThanOrEqual(Number((dns + connect + firstByte).toFixed(3)));
    expect(rt).toBeLessThanOrEqual(total);
  });

  it('sends one request, as it was asked, in the name of the probe', async () => {
    const requests: IncomingMessage[] = [];
    const port = await serve((request, response) => {
      requests.push(request);
      response.end();
    });
    const headers = { 'Accept-Language': 'de', accept: 'text/plain' };

    await checkOf(`http://127.0.0.1:${port}/a%20b?c=d`, { options: { method: 'OPTIONS', headers } });

    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ method: 'OPTIONS', url: '/a%20b?c=d', httpVersion: '1.1' });
    expect(requests[0]?.rawHeaders).toEqual([
      'Host',
      `127.0.0.1:${port}`,
      'User-Agent',
      'Vantage/0 (+https://vantage.example/probing)',
      'Accept-Encoding',
      'identity',
      'Accept-Language',
      'de',
      'accept',
      'text/plain',
      'Connection',
      'close',
    ]);
  });

  it('names the URL without TLS for a server that does not speak it', async () => {
    const port = await serve((_request, response) => response.end('hello'));

    const { result, error } = await checkOf(`https://127.0.0.1:${port}/`);

    expect([result, error]).toEqual([
      'failure',
      {
        code: 'tls_handshake_failed',
        phase: 'tls',
        source: 'target',
        message: `What the server sent is not TLS. If it speaks HTTP without TLS, its URL is http://127.0.0.1:${port}/.`,
      },
    ]);
    expect((await checkOf(`http://127.0.0.1:${port}/`)).result).toBe('success');
  });

  it('connects only to the address that was admitted, whatever the name may resolve to', async () => {
    const port = await serve((request, response) => response.end(request.headers.host));
    const context = testContext<Http>({ hosts: { 'only-here.invalid': ['127.0.0.1'] } });

    const outcome = await runHttp(paramsOf(`http://only-here.invalid:${port}/`), context);

    expect(outcome).toMatchObject({ result: 'success', resolvedIp: '127.0.0.1' });
    expect(outcome.bodySha256).toBe(createHash('sha256').update(`only-here.invalid:${port}`).digest('hex'));
    expect(context.admissions).toEqual([{ host: 'only-here.invalid', port, purpose: 'http', family: undefined }]);
  });

  it('goes on to the next address of a name where one takes no connection, and shows all', async () => {
    const port = await serve((_request, response) => response.end('x'));
    const hosts = { 'many.test': ['127.0.0.66', '127.0.0.67', '127.0.0.1', '127.0.0.2'] };
    const context = testContext<Http>({ hosts });

    const outcome = await runHttp(paramsOf(`http://many.test:${port}/`), context);

    expect(outcome).toMatchObject({
      result: 'success',
      resolvedIp: '127.0.0.1',
      addresses: hosts['many.test'],
      deadAddresses: [
        { address: '127.0.0.66', error: 'connection_refused', time: expect.any(Number) },
        { address: '127.0.0.67', error: 'connection_refused', time: expect.any(Number) },
      ],
    });
    const { dns, retries, connect, firstByte, download, total } = outcome.timings as Required<
      NonNullable<typeof outcome.timings>
    >;
    expect(retries).toBeGreaterThan(0);
    expect(total).toBeCloseTo(dns + retries + connect + firstByte + download, 6);
    expect(context.admissions).toHaveLength(1);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('fails with the first of its addresses where four take no connection, and tries no more', async () => {
    const port = await serve((_request, response) => response.end('x'));
    const hosts = { 'many.test': ['127.0.0.66', '127.0.0.67', '127.0.0.68', '127.0.0.69', '127.0.0.1'] };

    const outcome = await checkOf(`http://many.test:${port}/`, {}, { hosts });

    expect(outcome).toMatchObject({
      result: 'failure',
      resolvedIp: '127.0.0.66',
      error: {
        code: 'connection_refused',
        message: 'The target refused the connection. One more address of the name was not asked.',
      },
    });
    expect(outcome.addresses).toHaveLength(5);
    expect(outcome.deadAddresses).toHaveLength(4);
    expect(Object.keys(outcome.timings ?? {}).toSorted()).toEqual(['dns', 'total']);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('does not go on to an address of a family that was not asked for', async () => {
    const port = await serve((_request, response) => response.end('x'));
    const hosts = { 'many.test': ['127.0.0.66', '::1'] };

    const outcome = await checkOf(`http://many.test:${port}/`, { options: { family: 4 } }, { hosts });

    expect(outcome).toMatchObject({
      result: 'failure',
      error: { code: 'connection_refused' },
      addresses: hosts['many.test'],
    });
    expect(outcome.deadAddresses).toBeUndefined();
  });

  itWithIpv6('takes an IPv6 literal out of its brackets', async () => {
    const port = await serve((_request, response) => response.end(), '::1');
    const context = testContext<Http>();

    const outcome = await runHttp(paramsOf(`http://[::1]:${port}/`, { options: { family: 6 } }), context);

    expect(outcome).toMatchObject({ result: 'success', resolvedIp: '::1' });
    expect(context.admissions).toEqual([{ host: '::1', port, purpose: 'http', family: 6 }]);
  });

  it.each([
    ['http://good.test/', 80],
    ['https://good.test/', 443],
  ])('asks for the admission of %s with port %i', async (url, port) => {
    const context = testContext<Http>({ refused: ['good.test'] });

    const outcome = await runHttp(paramsOf(url), context);

    expect(context.admissions[0]?.port).toBe(port);
    expect(outcome).toMatchObject({ result: 'error', error: { code: 'target_refused_by_policy' }, resolvedIp: null });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('has no body to a HEAD', async () => {
    const port = await serve((_request, response) => response.setHeader('content-length', 5).end());

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, { options: { method: 'HEAD' } });

    expect(outcome).toMatchObject({ result: 'success', bodyBytes: 0, truncated: false });
    expect(outcome.headers).toContainEqual(['content-length', '5']);
  });

  it.each([404, 503])('fails by a status of %i and keeps everything', async (status) => {
    const port = await serve((_request, response) => response.writeHead(status).end('no'));

    const outcome = await checkOf(`http://127.0.0.1:${port}/`);

    expect(outcome).toMatchObject({ result: 'failure', statusCode: status, bodyBytes: 2, resolvedIp: '127.0.0.1' });
    expect(outcome.error).toMatchObject({ code: 'http_status', phase: 'response', source: 'target' });
    expect(outcome.rt).toBeGreaterThan(0);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('shows what it knows as it goes', async () => {
    const port = await serve((_request, response) => response.end('x'));
    const context = testContext<Http>();

    await runHttp(paramsOf(`http://127.0.0.1:${port}/`), context);

    expect(context.partials.some(({ timings, statusCode }) => timings?.connect !== undefined && !statusCode)).toBe(
      true,
    );
    expect(context.partials.some(({ statusCode }) => statusCode === 200)).toBe(true);
    expect(context.partials).toContainEqual(expect.objectContaining({ resolvedIp: '127.0.0.1', statusCode: 200 }));
    expect(context.partials.flatMap((fields) => [...Value.Errors(partialResultSchema(http), fields)])).toEqual([]);
  });

  it('ends where the name is not resolved in time', async () => {
    const signal = AbortSignal.timeout(50);
    const admit = (_request: unknown, signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

    const outcome = await checkOf('http://slow.test/', {}, { signal, admit });

    expect(outcome).toMatchObject({ result: 'timeout', error: { code: 'timed_out', phase: 'resolve' } });
  });

  itWithCurl('agrees with curl about status, headers and body (skipped without curl)', async () => {
    const port = await serve((_request, response) => {
      response.writeHead(203, { 'X-A': 'b', Date: 'Thu, 01 Jan 2026 00:00:00 GMT' }).end('hello'.repeat(1000));
    });
    const url = `http://127.0.0.1:${port}/`;

    const outcome = await checkOf(url);
    const seen = await curl(['--include', '--silent', '--http1.1', '--header', 'Connection: close', url]);

    const [head, body] = seen.split('\r\n\r\n');
    const [statusLine, ...lines] = head!.split('\r\n');
    expect(statusLine).toBe(`HTTP/${outcome.httpVersion} ${outcome.statusCode} ${outcome.statusText}`);
    expect(lines).toEqual(outcome.headers?.map(([name, value]) => `${name}: ${value}`));
    expect(createHash('sha256').update(body!).digest('hex')).toBe(outcome.bodySha256);
  });
});

function serve(listener: RequestListener, host?: string): Promise<number> {
  return start(createServer(listener), host);
}

/** Runs curl asynchronously, so that the server of the test can answer. */
function curl(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('curl', args, { encoding: 'latin1' }, (error, stdout) => (error ? reject(error) : resolve(stdout)));
  });
}

function hasCurl(): boolean {
  try {
    execFileSync('curl', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
