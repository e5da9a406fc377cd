import { once } from 'node:events';
import { createServer as createPlain, type RequestListener } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { createServer, type AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import {
  certificateMint,
  opensslVersion,
  type CertificateMint,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import { chromiumHere, requiredInCi } from '../../../../test/chromium-here.ts';
import { checkOf, problemsOf } from '../../../../test/http.ts';
import type { ChromiumOpinion } from '../../../../test/second-opinions.ts';
import { createTrustStore, type TrustStore } from '../../../tls/certificate/trust-store.ts';

const tools = requiredInCi(opensslVersion() === null ? 'openssl is needed' : null);
const { missing: chromiumMissing, open: openChromium } = await chromiumHere(tools);

const LOOP = 'ERR_TOO_MANY_REDIRECTS';
const YEAR = 'max-age=31536000';

interface Row {
  readonly name: string;
  /** Strict-Transport-Security of the answer over https, which redirects to http. */
  readonly header: string | readonly string[] | undefined;
  /** Host and path of the redirect; by default those of the request. */
  readonly to?: { readonly subdomain?: string; readonly path?: string };
  readonly hsts?: 'loop' | 'upgraded';
  readonly chromium: string;
}

/** Over http, and over https at other paths than `/`, the servers answer 200. */
const rows: readonly Row[] = [
  { name: 'a year', header: YEAR, hsts: 'loop', chromium: LOOP },
  { name: 'none', header: undefined, chromium: '200' },
  { name: 'an age of 0', header: 'max-age=0; includeSubDomains', chromium: '200' },
  { name: 'no age', header: 'includeSubDomains', chromium: '200' },
  { name: 'the same directive twice', header: `${YEAR}; ${YEAR}`, chromium: '200' },
  { name: 'an unknown directive twice', header: `${YEAR}; preload; preload`, hsts: 'loop', chromium: LOOP },
  { name: 'a semicolon in quotes', header: `${YEAR}; a="b;max-age=0"`, hsts: 'loop', chromium: LOOP },
  { name: 'a quote in quotes', header: `${YEAR}; a="b\\";max-age=0;"`, hsts: 'loop', chromium: LOOP },
  { name: 'quotes without an end', header: `a="; ${YEAR}`, chromium: '200' },
  { name: 'a value for what has none', header: `${YEAR}; includeSubDomains=1`, chromium: '200' },
  { name: 'a value that is none', header: `${YEAR}; a=b=c`, chromium: '200' },
  { name: 'a directive that is none', header: `${YEAR}; "a"=b`, chromium: '200' },
  { name: 'a quoted age and an unknown directive', header: 'Max-Age="9999" ; x=y', hsts: 'loop', chromium: LOOP },
  { name: 'two headers, of which the first counts', header: [YEAR, 'max-age=0'], hsts: 'loop', chromium: LOOP },
  { name: 'another path', header: YEAR, to: { path: '/other' }, hsts: 'upgraded', chromium: '200' },
  { name: 'a host below, not included', header: YEAR, to: { subdomain: 'www.' }, chromium: '200' },
  {
    name: 'a host below, included',
    header: `${YEAR}; includeSubDomains`,
    to: { subdomain: 'www.', path: '/other' },
    hsts: 'upgraded',
    chromium: '200',
  },
];
const hostOf = (index: number): string => `r${index}.hsts.test`;
const hosts = rows.flatMap((_row, index) => [hostOf(index), `www.${hostOf(index)}`]);
const resolved = Object.fromEntries(hosts.map((host) => [host, ['127.0.0.1']]));

let mint: CertificateMint;
let identity: Issued;
let trust: TrustStore;
let chromium: ChromiumOpinion | undefined;

beforeAll(async () => {
  if (tools !== null) return;
  mint = certificateMint();
  const root = mint.issue({ subject: '/CN=Root', ca: true });
  const names = [...hosts.map((host) => `DNS:${host}`), 'IP:127.0.0.1'];
  identity = mint.issue({ subject: '/CN=hsts.test', names, issuer: root });
  trust = createTrustStore([root.cert]);
  chromium = await openChromium({ roots: [root], servers: [] });
});

afterAll(async () => {
  await chromium?.close();
  mint?.close();
});

const other = chromiumMissing === null ? ' and Chromium' : ` (Chromium skipped: ${chromiumMissing})`;
(tools === null ? describe : describe.skip)(`a redirect from https to http is seen by the check${other}, with`, () => {
  it.each(rows.map((row, index) => ({ ...row, host: hostOf(index) })))('$name', async (row) => {
    const { host, header, to: { subdomain = '', path = '/' } = {} } = row;
    await using server = await serve((request, response) => {
      if ('encrypted' in request.socket && request.url === '/') {
        if (header !== undefined) response.setHeader('Strict-Transport-Security', header);
        response.writeHead(301, { Location: `http://${subdomain}${host}:${server.port}${path}` });
      }
      response.end('ok');
    });
    const url = `https://${host}:${server.port}/`;

    const asked = await check(url, 0);
    const followed = await check(url, 5);

    expect(asked).toMatchObject({ result: 'success', statusCode: 301 });
    expect(asked.hsts).toBe(row.hsts);
    expect(followed).toMatchObject({ result: 'success', statusCode: 200, redirects: [expect.anything()] });
    expect(followed.redirects?.[0]?.hsts).toBe(row.hsts);
    expect([...problemsOf(asked), ...problemsOf(followed)]).toEqual([]);
    if (chromium !== undefined) expect(await chromium.visit({ host, port: server.port })).toBe(row.chromium);
  });

  it('a page as the second answer over https, which browsers reach', async () => {
    let answers = 0;
    await using server = await serve((request, response) => {
      const isEncrypted = 'encrypted' in request.socket;
      const location = `${isEncrypted ? 'http' : 'https'}://${request.headers.host}${request.url}`;
      if (request.url === '/' && (!isEncrypted || (answers += 1) % 2 === 1)) {
        response.writeHead(301, { 'Strict-Transport-Security': YEAR, Location: location });
      }
      response.end('ok');
    });
    const url = `https://${hostOf(0)}:${server.port}/`;

    const outcome = await check(url, 5);

    // The summary sees by the last answer that the redirects end.
    expect(outcome).toMatchObject({ result: 'success', statusCode: 200, url });
    expect(outcome.redirects?.map(({ hsts }) => hsts)).toEqual(['loop', undefined]);
    if (chromium !== undefined) expect(await chromium.visit({ host: hostOf(0), port: server.port })).toBe('200');
  });

  it('a cookie, by which the server may answer the second request', async () => {
    await using server = await serveHsts({ 'Set-Cookie': 'seen=1' });

    expect((await check(`https://${hostOf(0)}:${server.port}/`, 0)).hsts).toBe('upgraded');
  });

  it.each([
    ['headers, which browsers do not send', { headers: { 'X-Old': '1' } }],
    ['a method, which browsers do not use', { method: 'OPTIONS' as const }],
  ])('%s', async (_reason, options) => {
    await using server = await serveHsts({});
    const url = `https://${hostOf(0)}:${server.port}/`;

    const outcome = await checkOf(url, { insecureSSL: true, options }, { hosts: resolved, trust });

    expect(outcome.statusCode).toBe(301);
    expect(outcome).not.toHaveProperty('hsts');
  });

  it.each([
    ['a certificate that is not trusted', hostOf(0), createTrustStore([])],
    ['an address in place of a name', '127.0.0.1', undefined],
  ])('%s, where browsers ignore the demand', async (_reason, host, trusted) => {
    await using server = await serveHsts({});

    const outcome = await check(`https://${host}:${server.port}/`, 0, trusted);

    expect(outcome.statusCode).toBe(301);
    expect(outcome).not.toHaveProperty('hsts');
  });
});

function check(url: string, followRedirects: number, trusted = trust): ReturnType<typeof checkOf> {
  return checkOf(url, { insecureSSL: true, options: { followRedirects } }, { hosts: resolved, trust: trusted });
}

interface Served extends AsyncDisposable {
  readonly port: number;
}

/** A server that demands https and redirects each request to the same URL of http. */
function serveHsts(headers: Readonly<Record<string, string>>): Promise<Served> {
  return serve(({ headers: { host }, url }, response) =>
    response.writeHead(301, { ...headers, 'Strict-Transport-Security': YEAR, Location: `http://${host}${url}` }).end(),
  );
}

/** One port for http and https: browsers keep a port that is not 80. */
async function serve(listener: RequestListener): Promise<Served> {
  const [plain, secure] = [createPlain(listener), createSecure({ ...identity }, listener)];
  const HANDSHAKE = 22;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes: Buffer) => {
      socket.pause();
      socket.unshift(bytes);
      (bytes[0] === HANDSHAKE ? secure : plain).emit('connection', socket);
      process.nextTick(() => socket.resume());
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => void server.close();
  return { port: (server.address() as AddressInfo).port, [Symbol.asyncDispose]: close };
}
