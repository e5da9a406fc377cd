import { createServer as createTcpServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import {
  certificateMint,
  opensslVersion,
  type CertificateMint,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import {
  startDnsOverHttps,
  startDnsOverTls,
  startDnsServer,
  type AnswerDns,
  type DnsServer,
} from '@vantage/test-support/dns/server';
import { addressRecord, respond } from '@vantage/test-support/dns/wire';
import { checkOf } from '../../../../test/http.ts';
import { startServer } from '@vantage/test-support/loopback';
import { createTrustStore, type TrustStore } from '../../../tls/certificate/trust-store.ts';
import { queryHttps } from './https.ts';
import { prepareQuery, type NameServer } from './query.ts';
import { queryTcp, queryTls } from './stream.ts';

const NAME = 'resolver.example';
const USER_AGENT = 'Vantage/0 (+https://vantage.example/probing)';

const prepared = prepareQuery({
  name: 'www.example.com.',
  recordType: { code: 1, name: 'A' },
  recursionDesired: true,
  checkingDisabled: false,
  edns: { dnssecOk: false, nsid: false },
});

const soon = (): AbortSignal => AbortSignal.timeout(60_000);
const right: AnswerDns = (query) => [respond(query, { answers: [addressRecord('www.example.com', '192.0.2.1')] })];

const servers: { readonly close: () => Promise<unknown> }[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map(async (server) => server.close()));
});

describe('over TCP', () => {
  it.each<[string, AnswerDns]>([
    ['a wrong id', (query) => [respond(query, { id: query.id ^ 1 })]],
    ['another question', (query) => [respond(query, { question: Uint8Array.of(0, 0, 1, 0, 1) })]],
    ['a length of zero', () => [Buffer.alloc(0)]],
    ['broken octets', (query) => [respond(query, { answers: [addressRecord('x', '192.0.2.1')] }).subarray(0, -1)]],
  ])('an answer with %s is a failure of the resolver', async (_reason, answer) => {
    const server = opened(await startDnsServer(answer));

    const asked = await queryTcp(at(server), prepared, soon());

    expect(asked.failure).toMatchObject({ code: 'dns_bad_response', source: 'resolver' });
  });

  it('an answer may come octet by octet', async () => {
    const server = await startServer(
      createTcpServer((socket) => {
        socket.once('data', (bytes: Buffer) => {
          const id = bytes.readUInt16BE(2);
          const query = { id, flags: 0, name: '', type: 1, question: bytes.subarray(14, 14 + 21), rest: bytes };
          const message = respond(query, { answers: [addressRecord('www.example.com', '192.0.2.1')] });
          const octets = Array.from(Buffer.concat([Buffer.of(0, message.length), message]));
          const send = (): void => {
            const octet = octets.shift();
            if (octet !== undefined) socket.write(Buffer.of(octet), () => setImmediate(send));
          };
          send();
        });
      }),
    );
    servers.push(server);

    const asked = await queryTcp(at(server), prepared, soon());

    expect(asked.answer?.message.answers.map(({ data }) => data)).toEqual(['192.0.2.1']);
  });

  it('a connection that is closed before the answer is distinguished from silence', async () => {
    const closing = await startServer(createTcpServer((socket) => socket.once('data', () => socket.end(Buffer.of(0)))));
    const silent = await startServer(createTcpServer((socket) => socket.resume()));
    servers.push(closing, silent);

    const closed = await queryTcp(at(closing), prepared, soon());
    const timedOut = await queryTcp(at(silent), prepared, AbortSignal.timeout(200));

    expect(closed.failure).toMatchObject({ code: 'connection_closed', source: 'resolver' });
    expect(timedOut.failure).toMatchObject({ code: 'timed_out' });
  });
});

const hasOpenssl = opensslVersion() !== null;
if (!hasOpenssl && process.env['CI'] === 'true') throw new Error('CI needs openssl.');
const describeWithOpenssl = hasOpenssl ? describe : describe.skip;

describeWithOpenssl(hasOpenssl ? 'over TLS' : 'over TLS (skipped: openssl is not installed)', () => {
  let mint: CertificateMint;
  let authority: Issued;
  let leaf: Issued;
  let expired: Issued;
  let trust: TrustStore;

  beforeAll(() => {
    mint = certificateMint();
    authority = mint.issue({ subject: '/CN=Test authority', ca: true });
    const names = [`DNS:${NAME}`, 'IP:127.0.0.1'];
    leaf = mint.issue({ subject: '/CN=Test resolver', names, issuer: authority });
    expired = mint.issue({ subject: '/CN=Test resolver', names, issuer: authority, from: -10, until: -1 });
    trust = createTrustStore([authority.cert]);
  });

  afterAll(() => mint.close());

  it.each([
    ['by name', NAME],
    ['by address', '127.0.0.1'],
  ])('a resolver given %s is asked, with the times of both handshakes', async (_reason, host) => {
    const server = opened(await startDnsOverTls(leaf, right));

    const { answer, failure } = await queryTls(at(server, host), prepared, trust, soon());

    expect(failure).toBeNull();
    expect(answer).toMatchObject({ transport: 'tls', message: { answers: [{ data: '192.0.2.1' }] } });
    expect(Math.min(answer?.connectMs ?? 0, answer?.tlsMs ?? 0, answer?.queryMs ?? 0)).toBeGreaterThan(0);
  });

  it('a resolver with another name is not asked', async () => {
    const server = opened(await startDnsOverTls(leaf, right));

    const asked = await queryTls(at(server, 'other.example'), prepared, trust, soon());

    expect(asked.failure).toMatchObject({ code: 'tls_hostname_mismatch', phase: 'tls', source: 'resolver' });
    expect(server.queries).toEqual([]);
  });

  it('a resolver whose certificate is not trusted or expired is not asked', async () => {
    const unknown = opened(await startDnsOverTls(leaf, right));
    const old = opened(await startDnsOverTls(expired, right));

    const untrusted = await queryTls(at(unknown, NAME), prepared, createTrustStore([]), soon());
    const late = await queryTls(at(old, NAME), prepared, trust, soon());

    expect(untrusted.failure?.code).toMatch(/^tls_/);
    expect(late.failure).toMatchObject({ code: 'tls_expired' });
    expect([...unknown.queries, ...old.queries]).toEqual([]);
  });

  const AIA = 'authorityInfoAccess = caIssuers;URI:http://ca.test/issuer.crt';
  const names = [`DNS:${NAME}`];
  const stranger = (): Issued => mint.issue({ subject: '/CN=Stranger', ca: true });
  const authorityBelow = (): Issued => mint.issue({ subject: '/CN=Below', ca: true, issuer: authority });
  it.each<[string, string, () => Issued]>([
    [
      'tls_unknown_issuer',
      'of a private root, alone',
      () => mint.issue({ subject: '/CN=x', names, issuer: stranger() }),
    ],
    [
      'tls_missing_intermediate',
      'without its intermediate',
      () => mint.issue({ subject: '/CN=x', names, issuer: authorityBelow(), extensions: [AIA] }),
    ],
    ['tls_self_signed', 'that signed itself', () => mint.issue({ subject: '/CN=x', names })],
    [
      'tls_hostname_mismatch',
      'by its common name only',
      () => mint.issue({ subject: `/CN=${NAME}`, issuer: authority }),
    ],
    [
      'tls_weak_key',
      'signed over SHA-1',
      () => mint.issue({ subject: '/CN=x', names, issuer: authority, digest: 'sha1' }),
    ],
  ])('%s is what an http check says too of a certificate %s', async (code, _reason, issue) => {
    const certificate = issue();
    const dot = opened(await startDnsOverTls(certificate, right));
    const doh = opened(await startDnsOverHttps(certificate, right, { http2: true }));

    const overTls = await queryTls(at(dot, NAME), prepared, trust, soon());
    const overHttps = await queryHttps(at(doh, NAME), prepared, trust, USER_AGENT, soon());
    const http = await checkOf(`https://${NAME}:${doh.port}/`, {}, { hosts: { [NAME]: ['127.0.0.1'] }, trust });

    expect(overTls.failure).toMatchObject({ code, phase: 'tls', source: 'resolver' });
    expect(overHttps.failure).toEqual(overTls.failure);
    expect({ ...http.error, source: 'resolver' }).toEqual(overTls.failure);
    expect([...dot.queries, ...doh.queries]).toEqual([]);
  });

  it('a server that speaks another protocol only is recognized by that, not by a version of HTTP', async () => {
    const server = await startServer(createTlsServer({ ...leaf, ALPNProtocols: ['h2'] }));
    servers.push(server);

    const asked = await queryTls(at(server, NAME), prepared, trust, soon());

    expect(asked.failure).toMatchObject({ code: 'dns_resolver_unreachable', source: 'resolver' });
    expect(asked.failure?.message).toContain('none of the protocols that were offered by ALPN: dot.');
    expect(asked.failure?.message).not.toContain('HTTP');
  });

  it('a server of TLS 1.1 is not asked', async () => {
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    const server = await startServer(createTlsServer({ ...leaf, ...old }));
    servers.push(server);

    const asked = await queryTls(at(server, NAME), prepared, trust, soon());

    expect(asked.failure).toMatchObject({ code: 'tls_protocol_unsupported', source: 'resolver' });
    expect(asked.failure?.message).toContain('TLSv1.1');
  });

  it('a resolver that takes post-quantum groups alone gets a second connection', async () => {
    const postQuantum = { ...leaf, ecdhCurve: 'X25519MLKEM768' };
    const dot = opened(await startDnsOverTls(postQuantum, right));
    const doh = opened(await startDnsOverHttps(postQuantum, right));

    const overTls = await queryTls(at(dot, NAME), prepared, trust, soon());
    const overHttps = await queryHttps(at(doh, NAME), prepared, trust, USER_AGENT, soon());

    expect([overTls.failure, overHttps.failure]).toEqual([null, null]);
  });

  it('a server that does not speak TLS is a failed handshake', async () => {
    const server = await startServer(createTcpServer((socket) => socket.write('220 mail.example ESMTP\r\n')));
    servers.push(server);

    const asked = await queryTls(at(server, NAME), prepared, trust, soon());

    expect(asked.failure).toMatchObject({ code: 'tls_handshake_failed', source: 'resolver' });
  });

  it('silence in the handshake ends with the signal', async () => {
    const server = await startServer(createTcpServer((socket) => socket.resume()));
    servers.push(server);

    const asked = await queryTls(at(server, NAME), prepared, trust, AbortSignal.timeout(200));

    expect(asked.failure).toMatchObject({ code: 'timed_out' });
  });

  it.each([
    ['HTTP/2', true],
    ['HTTP/1.1', false],
  ])('DNS over HTTPS is asked by POST over %s, with id 0', async (_version, http2) => {
    const server = opened(await startDnsOverHttps(leaf, right, { http2 }));

    const { answer, failure } = await queryHttps(at(server, NAME), prepared, trust, USER_AGENT, soon());

    expect(failure).toBeNull();
    expect(answer).toMatchObject({ transport: 'https', message: { id: 0, answers: [{ data: '192.0.2.1' }] } });
    expect(server.queries.map(({ query }) => query.id)).toEqual([0]);
  });

  it.each<[string, string | undefined, number, boolean]>([
    ['of 30 s', '30', 270, true],
    ['of 30 s, over HTTP/1.1', '30', 270, false],
    ['above the TTL', '301', 0, true],
    ['that is no number', '-5', 300, true],
    ['missing', undefined, 300, true],
  ])('the time in an HTTP cache is taken off the TTL: %s', async (_reason, age, ttl, http2) => {
    const server = opened(await startDnsOverHttps(leaf, right, { http2, ...(age === undefined ? {} : { age }) }));

    const { answer } = await queryHttps(at(server, NAME), prepared, trust, USER_AGENT, soon());

    expect(answer?.message.answers).toMatchObject([{ ttl }]);
  });

  it.each([true, false])('an HTTP status or media type of another kind is a failure (HTTP/2: %s)', async (http2) => {
    const missing = opened(await startDnsOverHttps(leaf, right, { http2, status: 404 }));
    const page = opened(await startDnsOverHttps(leaf, right, { http2, contentType: 'text/html' }));
    const foreign = opened(await startDnsOverHttps(leaf, (query) => [respond(query, { id: 7 })], { http2 }));
    const endless = opened(await startDnsOverHttps(leaf, () => [Buffer.alloc(70_000)], { http2 }));

    const codes = [];
    for (const server of [missing, page, foreign, endless]) {
      const asked = await queryHttps(at(server, NAME), prepared, trust, USER_AGENT, soon());
      codes.push(asked.failure?.code);
    }

    expect(codes).toEqual(['http_status', 'dns_bad_response', 'dns_bad_response', 'dns_bad_response']);
  });
});

function at({ port }: { readonly port: number }, host = '127.0.0.1'): NameServer {
  const address = '127.0.0.1';
  return { target: { host, address, family: 4, addresses: [address], resolveMs: 0 }, port };
}

function opened(server: DnsServer): DnsServer {
  servers.push(server);
  return server;
}
