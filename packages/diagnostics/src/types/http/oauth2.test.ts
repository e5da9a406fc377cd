import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';
import { testContext, type TestContext } from '@vantage/test-support/context';
import { servers } from '@vantage/test-support/loopback';

import { paramsOf, problemsOf } from '../../../test/http.ts';
import type { Outcome } from '../../diagnostic.ts';
import { http } from './contract.ts';
import type { OAuth2Grant } from './request-rules.ts';
import { runHttp } from './run.ts';
import type { Http } from './types.ts';

const { start, closeAll } = servers();
afterEach(closeAll);

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(respond: Respond): Promise<string> {
  const server = createServer(respond);
  await start(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const grant: OAuth2Grant = {
  tokenUrl: '',
  clientId: 'prober',
  clientSecret: 'secret-of-the-client',
  scopes: [],
  parameters: {},
  tls: { insecure: false, minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' },
};

interface Run {
  readonly outcome: Outcome<Http>;
  readonly context: TestContext<Http>;
  /** The header Authorization of each request to the target. */
  readonly seen: readonly (string | undefined)[];
}

async function run(
  respond: Respond,
  { host = '127.0.0.1', refused = [] }: { readonly host?: string; readonly refused?: readonly string[] } = {},
): Promise<Run> {
  const seen: (string | undefined)[] = [];
  const target = await serve((request, response) => {
    seen.push(request.headers.authorization);
    response.end('ok');
  });
  const tokens = await serve(respond);
  const tokenUrl = tokens.replace('127.0.0.1', host);
  const context = testContext<Http>({ refused, hosts: { 'tokens.example': ['127.0.0.1'] } });
  const request = { timeoutMs: 10_000, tls: grant.tls, oauth2: { ...grant, tokenUrl } };
  const params = { ...paramsOf(target), rules: { expressions: [], request } };
  return { outcome: await runHttp(params, context), context, seen };
}

const giveToken =
  (token: unknown): Respond =>
  (_request, response) =>
    void response.end(JSON.stringify({ access_token: token, token_type: 'bearer' }));

describe('a token by the credentials of a client', () => {
  it('is requested of the admitted server first, and is in no result', async () => {
    const { outcome, context, seen } = await run(giveToken('token-of-the-server'), { host: 'tokens.example' });

    expect(seen).toEqual(['Bearer token-of-the-server']);
    expect(outcome).toMatchObject({ result: 'success', statusCode: 200 });
    expect(context.admissions.map(({ host, purpose }) => [host, purpose])).toEqual([
      ['tokens.example', 'http'],
      ['127.0.0.1', 'http'],
    ]);
    expect(JSON.stringify([outcome, context.partials])).not.toMatch(/secret-of|token-of/);
  });

  it('reaches a target over HTTP/2 with headers, a cookie and a URL of their greatest sizes: more than one frame', async () => {
    const token = 'a'.repeat(8_192);
    const [more, cookie, path] = ['b'.repeat(4_000), `c=${'d'.repeat(2_000)}`, `/${'e'.repeat(2_000)}`];
    const seen: unknown[] = [];
    const server = createHttp2Server((request, response) => {
      if (request.url !== path) return void response.writeHead(302, { Location: path, 'Set-Cookie': cookie }).end();
      const { authorization, cookie: returned, 'x-more': own } = request.headers;
      seen.push(authorization, returned, own);
      return void response.end('ok');
    });
    await start(server);
    const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const tokenUrl = await serve(giveToken(token));
    const request = { timeoutMs: 10_000, tls: grant.tls, oauth2: { ...grant, tokenUrl } };
    const options = { httpVersion: '2', headers: { 'X-More': more }, followRedirects: 1 } as const;
    const params = { ...paramsOf(target, { options }), rules: { expressions: [], request } };

    const outcome = await runHttp(params, testContext<Http>());

    expect(outcome).toMatchObject({ result: 'success', statusCode: 200, httpVersion: '2' });
    expect(seen).toEqual([`Bearer ${token}`, cookie, more]);
  });

  it('is not requested of a server that the policy refuses; nothing is sent then', async () => {
    const { outcome, seen } = await run(giveToken('a'), { host: 'tokens.example', refused: ['tokens.example'] });

    expect(seen).toEqual([]);
    expect(outcome).toMatchObject({ result: 'error', error: { code: 'target_refused_by_policy' } });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each<[string, Respond, RegExp]>([
    ['is refused', (_request, response) => void response.writeHead(403).end('secret-of-the-client'), /status 403/],
    ['is missing', (_request, response) => void response.end('{}'), /has no token/],
    ['would add a line to the request', giveToken('a\r\nX-Other: b'), /has no token/],
    ['is no text', giveToken({ a: 1 }), /has no token/],
    ['is beyond all bounds', giveToken('a'.repeat(20_000)), /has no token/],
    ['is elsewhere', (_request, response) => void response.writeHead(307, { Location: '/' }).end(), /status 307/],
    ['ends with the connection', (request) => void request.socket.destroy(), /^No token was given: /],
  ])('that %s ends the check, and the target is not asked', async (_what, respond, message) => {
    const { outcome, seen } = await run(respond);

    expect(seen).toEqual([]);
    expect(outcome).toMatchObject({ result: 'failure', error: { message: expect.stringMatching(message) } });
    expect(JSON.stringify(outcome)).not.toContain('secret-of');
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('costs the packets of its requests', () => {
    const request = { timeoutMs: 1, tls: grant.tls, oauth2: grant };
    const params = paramsOf('http://a.example/');
    const traffic = (rules?: object): number =>
      http.traffic({ ...params, ...(rules === undefined ? {} : { rules }) }).packets;

    expect(traffic({ request })).toBeGreaterThan(traffic());
  });
});
