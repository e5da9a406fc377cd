import { createServer, type RequestListener } from 'node:http';

import { afterEach, describe, expect, it } from '@jest/globals';

import { testContext } from '@vantage/test-support/context';
import { checkOf, paramsOf, problemsOf } from '../../test/http.ts';
import { servers } from '@vantage/test-support/loopback';
import type { Http } from '../types/http/types.ts';
import { runHttp } from '../types/http/run.ts';

const { start, startRaw, closeAll } = servers();

afterEach(closeAll);

describe('the redirects of an http check', () => {
  it('are not followed unasked', async () => {
    const port = await serve((_request, response) => response.writeHead(302, { location: '/next' }).end());

    const outcome = await checkOf(`http://127.0.0.1:${port}/`);

    expect(outcome).toMatchObject({ result: 'success', statusCode: 302, location: '/next', redirects: [] });
  });

  it('are each admitted again and measured separately', async () => {
    const port = await serve((request, response) => {
      if (request.url === '/a') response.writeHead(301, { location: `http://b.test:${port}/b#part` }).end();
      else if (request.url === '/b') response.writeHead(307, { location: 'c' }).end();
      else response.end('there');
    });
    const context = testContext<Http>({ hosts: { 'a.test': ['127.0.0.1'], 'b.test': ['127.0.0.1'] } });

    const outcome = await runHttp(paramsOf(`http://a.test:${port}/a`, { options: { followRedirects: 5 } }), context);

    expect(outcome).toMatchObject({ result: 'success', statusCode: 200, url: `http://b.test:${port}/c`, bodyBytes: 5 });
    expect(outcome.redirects).toMatchObject([
      { url: `http://a.test:${port}/a`, statusCode: 301, location: `http://b.test:${port}/b#part` },
      { url: `http://b.test:${port}/b`, statusCode: 307, location: 'c', resolvedIp: '127.0.0.1' },
    ]);
    expect(outcome.redirects?.every(({ rt, timings }) => rt > 0 && rt <= timings.total)).toBe(true);
    const totals = [outcome, ...(outcome.redirects ?? [])].map(({ timings }) => timings!.total);
    expect(outcome.elapsed).toBeCloseTo(
      totals.reduce((sum, total) => sum + total),
      6,
    );
    expect(context.admissions.map(({ host }) => host)).toEqual(['a.test', 'b.test', 'b.test']);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each<[string, string, string]>([
    ['redirect_loop', 'to itself', '/'],
    ['redirect_loop', 'to itself by another part', '/#part'],
    ['redirect_refused', 'to a file', 'file:///etc/passwd'],
    ['redirect_refused', 'to another protocol', 'ftp://127.0.0.1/'],
    ['redirect_refused', 'to no URL', 'http://[oops'],
    ['redirect_refused', 'to a URL with credentials', 'http://user:secret@127.0.0.1/'],
    ['redirect_refused', 'to a URL that is too long', `/${'a'.repeat(3000)}`],
    ['redirect_refused', 'to a target that the policy refuses', 'http://forbidden.test/'],
    ['dns_nxdomain', 'to a name that is not there', 'http://nowhere.test/'],
  ])('end the check with %s where they lead %s', async (code, _reason, location) => {
    const port = await serve((_request, response) => response.writeHead(302, { location }).end());

    const outcome = await checkOf(
      `http://127.0.0.1:${port}/`,
      { options: { followRedirects: 10 } },
      { refused: ['forbidden.test'] },
    );

    expect(outcome).toMatchObject({ result: 'failure', error: { code } });
    expect([outcome.statusCode, ...(outcome.redirects ?? []).map(({ statusCode }) => statusCode)]).toContain(302);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('end the check with redirect_loop where two lead to one another', async () => {
    const port = await serve((request, response) => {
      response.writeHead(302, { location: request.url === '/a' ? '/b' : '/a' }).end();
    });

    const outcome = await checkOf(`http://127.0.0.1:${port}/a`, { options: { followRedirects: 10 } });

    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'redirect_loop' }, statusCode: 302 });
    expect(outcome.redirects).toHaveLength(2);
  });

  it('end the check with redirect_limit where there are more than asked for', async () => {
    let requests = 0;
    const port = await serve((_request, response) =>
      response.writeHead(302, { location: `/${(requests += 1)}` }).end(),
    );

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, { options: { followRedirects: 3 } });

    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'redirect_limit' }, statusCode: 302 });
    expect(outcome.redirects).toHaveLength(3);
    expect(requests).toBe(4);
  });

  it('take no credentials of the caller to another origin', async () => {
    const seen: (string | undefined)[] = [];
    const port = await serve((request, response) => {
      seen.push(request.headers.authorization, request.headers.cookie, request.headers['x-own'] as string);
      if (request.url === '/') response.writeHead(302, { location: `http://other.test:${port}/there` });
      response.end();
    });
    const headers = { Authorization: 'Bearer x', cookie: 'a=b', 'X-Own': 'kept' };

    await checkOf(
      `http://127.0.0.1:${port}/`,
      { options: { followRedirects: 1, headers } },
      { hosts: { 'other.test': ['127.0.0.1'] } },
    );

    expect(seen).toEqual(['Bearer x', 'a=b', 'kept', undefined, undefined, 'kept']);
  });

  it('carry the cookies that they set, so that a page which sets one and leads to itself is reached', async () => {
    const seen: (string | undefined)[] = [];
    const port = await serve((request, response) => {
      seen.push(request.headers.cookie);
      if (request.headers.cookie?.includes('seen=1') === true) response.end('there');
      else response.writeHead(302, { location: '/', 'set-cookie': 'seen=1; Path=/; HttpOnly' }).end();
    });
    const options = { followRedirects: 5, headers: { Cookie: 'own=2' } };

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, { options });

    expect(outcome).toMatchObject({ result: 'success', statusCode: 200, bodyBytes: 5 });
    expect(outcome.redirects).toHaveLength(1);
    expect(seen).toEqual(['own=2', 'own=2; seen=1']);
  });

  it('end the check with redirect_loop where a cookie that is set changes nothing', async () => {
    let requests = 0;
    const port = await serve((_request, response) => {
      requests += 1;
      response.writeHead(302, { location: '/', 'set-cookie': 'seen=1' }).end();
    });

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, { options: { followRedirects: 10 } });

    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'redirect_loop' } });
    expect(requests).toBe(3);
  });

  it.each<[string, Buffer, string]>([
    ['bytes that are no UTF-8', Buffer.from([0x2f, 0xfc, 0xff]), '/%FC%FF'],
    ['UTF-8', Buffer.from('/\u00fc'), '/%C3%BC'],
    ['escapes', Buffer.from('/%fc'), '/%fc'],
  ])('ask for the bytes of the Location: %s', async (_reason, location, path) => {
    const paths: string[] = [];
    const port = await startRaw((socket) => {
      socket.once('data', (bytes: Buffer) => {
        paths.push(bytes.toString('latin1').split(' ')[1]!);
        socket.write(paths.length === 1 ? 'HTTP/1.1 302 Found\r\nLocation: ' : 'HTTP/1.1 200 OK\r\n');
        if (paths.length === 1) socket.write(Buffer.concat([location, Buffer.from('\r\n')]));
        socket.end('Content-Length: 0\r\n\r\n');
      });
    });

    await checkOf(`http://127.0.0.1:${port}/`, { options: { followRedirects: 1 } });

    expect(paths).toEqual(['/', path]);
  });

  it('have their URLs in the result, whole at first and cut where all together are too long', async () => {
    let requests = 0;
    const port = await serve((_request, response) => {
      response.writeHead(302, { location: `/${(requests += 1)}?${'x'.repeat(900)}` }).end();
    });

    const { redirects } = await checkOf(`http://127.0.0.1:${port}/`, { options: { followRedirects: 10 } });

    const texts = redirects!.map(({ url, location }) => url.length + location!.length);
    expect(redirects![1]).toMatchObject({
      url: expect.stringMatching(/^http.*\/1\?x{900}$/),
      location: `/2?${'x'.repeat(900)}`,
    });
    expect(Math.max(...texts.slice(6))).toBeLessThanOrEqual(512);
    expect(texts.reduce((sum, text) => sum + text)).toBeLessThanOrEqual(8_192 + 10 * 512);
  });

  it('fit into a result, however long their URLs are', async () => {
    let requests = 0;
    const port = await startRaw((socket) => {
      socket.once('data', () => {
        const location = `/${(requests += 1)}${'\u{1f600}'.repeat(150)}`;
        const flood = Array.from({ length: 10 }, (_, at) => `H${at}: ${'"'.repeat(1000)}\r\n`).join('');
        socket.end(`HTTP/1.1 302 \r\n${flood}Location: ${location}\r\n\r\n`);
      });
    });

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, { options: { followRedirects: 10 } });

    expect(outcome.redirects).toHaveLength(10);
    expect(outcome.error?.code).toBe('redirect_limit');
    expect(Buffer.byteLength(JSON.stringify(outcome))).toBeLessThan(64 * 1024);
    expect(problemsOf(outcome)).toEqual([]);
  });
});

function serve(listener: RequestListener): Promise<number> {
  return start(createServer(listener));
}
