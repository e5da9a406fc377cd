import { X509Certificate } from 'node:crypto';
import { createServer, type TlsOptions } from 'node:tls';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import {
  certificateMint,
  opensslVersion,
  withUnreadableKey,
  type CertificateMint,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import { servers } from '@vantage/test-support/loopback';
import { checkOf, problemsOf } from '../../../test/http.ts';

const openssl = opensslVersion();
if (openssl === null && process.env['CI'] !== undefined) throw new Error('In CI these tests need openssl.');
const describeWithOpenssl = openssl === null ? describe.skip : describe;
const { start, startRaw, closeAll } = servers();

let mint: CertificateMint;
let root: Issued;
let intermediate: Issued;
let stranger: Issued;
let good: Issued;

describeWithOpenssl('the certificate of a target (skipped without the openssl command)', () => {
  beforeAll(() => {
    mint = certificateMint();
    root = mint.issue({ subject: '/C=DE/O=Test Trust/CN=Test Root', ca: true });
    intermediate = mint.issue({ subject: '/O=Test Trust/CN=Test Intermediate', ca: true, issuer: root });
    stranger = mint.issue({ subject: '/O=Unknown/CN=Stranger Root', ca: true });
    good = leaf({});
  });
  afterAll(() => mint?.close());
  afterEach(closeAll);

  it('is shown in full where it is trusted', async () => {
    const port = await serve(good, [intermediate]);

    const outcome = await check(port);

    expect(outcome).toMatchObject({
      result: 'success',
      statusCode: 200,
      sslSubject: 'good.test',
      sslIssuer: 'Test Trust',
      sslVersion: 'TLSv1.3',
      tls: { protocol: 'TLSv1.3', alpn: 'http/1.1', authorized: true, authorizationError: null, daysLeft: 89 },
    });
    expect(outcome.tls?.cipher).toMatch(/^TLS_AES_/);
    expect(outcome.tls?.chain.map(({ subject }) => subject)).toEqual([
      'CN=good.test',
      'O=Test Trust, CN=Test Intermediate',
      'C=DE, O=Test Trust, CN=Test Root',
    ]);
    expect(outcome.tls?.chain[0]).toMatchObject({
      issuer: 'O=Test Trust, CN=Test Intermediate',
      validFrom: outcome.sslValidFrom,
      validUntil: outcome.sslValidUntil,
      subjectAltNames: ['DNS:good.test', 'IP Address:127.0.0.1'],
      subjectAltNameCount: 2,
      keyType: 'ec',
      keyBits: 256,
    });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each<[string, string, () => readonly [Issued, readonly Issued[]]]>([
    ['tls_expired', 'past its end', () => [leaf({ from: -90, until: -1 }), [intermediate]]],
    ['tls_not_yet_valid', 'before its start', () => [leaf({ from: 1, until: 90 }), [intermediate]]],
    ['tls_hostname_mismatch', 'for another host', () => [leaf({ names: ['DNS:other.test'] }), [intermediate]]],
    ['tls_self_signed', 'self-signed', () => [mint.issue(request({})), []]],
    ['tls_unknown_issuer', 'of a stranger who is sent', () => [leaf({ issuer: stranger }), [stranger]]],
    ['tls_missing_intermediate', 'sent without its intermediate', () => [leaf({ extensions: [AIA] }), []]],
    ['tls_weak_key', 'with an RSA key of 1024 bits', () => [leaf({ key: ['rsa:1024'] }), [intermediate]]],
    ['tls_weak_key', 'with a SHA-1 signature', () => [leaf({ digest: 'sha1' }), [intermediate]]],
  ])('ends the check with %s before the request is sent, %s', async (code, _reason, issue) => {
    let received = 0;
    const [certificate, chain] = issue();
    const port = await serve(certificate, chain, { onData: () => (received += 1) });

    const outcome = await check(port);

    expect(outcome).toMatchObject({ result: 'failure', rt: null, resolvedIp: '127.0.0.1', sslSubject: 'good.test' });
    expect(outcome.error).toMatchObject({ code, phase: 'tls', source: 'target' });
    expect(outcome.tls).toMatchObject({ authorized: false, authorizationError: code });
    expect(outcome.tls?.chain[0]?.subject).toBe('CN=good.test');
    expect(Object.keys(outcome.timings ?? {}).toSorted()).toEqual(['connect', 'dns', 'tls', 'total']);
    expect(outcome.statusCode).toBeUndefined();
    expect(received).toBe(0);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('is reported but not heeded with insecureSSL', async () => {
    const port = await serve(leaf({ from: -90, until: -1.5 }), [intermediate]);

    const outcome = await check(port, { insecureSSL: true });

    expect(outcome).toMatchObject({ result: 'success', statusCode: 200, error: null });
    expect(outcome.tls).toMatchObject({ authorized: false, authorizationError: 'tls_expired', daysLeft: -1 });
  });

  it.each([
    ['the name of a URL', 'good.test', 'good.test'],
    ['nothing for an address', '127.0.0.1', false],
  ])('is asked for by SNI with %s', async (_reason, host, expected) => {
    const seen: unknown[] = [];
    const port = await serve(good, [intermediate], { onServerName: (name) => seen.push(name) });

    const outcome = await check(port, {}, host);

    expect(outcome.result).toBe('success');
    expect(seen).toEqual([expected]);
  });

  it.each(['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const)('is read over %s', async (version) => {
    const ciphers = 'DEFAULT@SECLEVEL=0';
    const port = await serve(good, [intermediate], { minVersion: version, maxVersion: version, ciphers });

    const outcome = await check(port);

    expect(outcome).toMatchObject({ result: 'success', sslVersion: version, tls: { protocol: version } });
  });

  it('keeps fifty of its names and counts the rest', async () => {
    const names = ['DNS:good.test', ...Array.from({ length: 119 }, (_, at) => `DNS:n${at}.test`)];
    const port = await serve(leaf({ names }), [intermediate]);

    const outcome = await check(port);

    expect(outcome.tls?.chain[0]?.subjectAltNames).toHaveLength(50);
    expect(outcome.tls?.chain[0]?.subjectAltNameCount).toBe(120);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('names its first alternative name and its issuer’s common name where there is no better', async () => {
    const issuer = mint.issue({ subject: '/CN=Plain Root', ca: true });
    const certificate = mint.issue({ subject: '/O=No Common Name', names: ['DNS:good.test', 'DNS:b.test'], issuer });
    const port = await serve(certificate, []);

    const outcome = await checkOf(`https://good.test:${port}/`, { insecureSSL: true }, hosts);

    expect(outcome).toMatchObject({ sslSubject: 'good.test', sslIssuer: 'Plain Root' });
  });

  it('has control characters and quotes of its names escaped, not taken for separators', async () => {
    const names = ['DNS:good.test', 'URI:http://x/,DNS:evil.test'];
    const certificate = leaf({ subject: '/CN=good.test\u202e', names });
    const port = await serve(certificate, [intermediate]);

    const outcome = await check(port);

    expect(outcome.sslSubject).toBe('good.test\\u{202e}');
    expect(outcome.tls?.chain[0]?.subjectAltNames).toEqual(['DNS:good.test', 'URI:http://x/,DNS:evil.test']);
  });

  it.each<[string, string, TlsOptions]>([
    ['tls_handshake_failed', 'no cipher in common', { ciphers: 'PSK-AES128-CBC-SHA', maxVersion: 'TLSv1.2' }],
    ['protocol_unreachable', 'only another application protocol', { ALPNProtocols: ['smtp'] }],
  ])('stays unknown with %s where there is %s', async (code, _reason, options) => {
    const port = await serve(good, [intermediate], options);

    const outcome = await check(port);

    expect(outcome).toMatchObject({ result: 'failure', error: { code, phase: 'tls', source: 'target' } });
    expect(outcome.timings?.connect).toBeGreaterThan(0);
    expect(outcome.timings?.tls).toBeUndefined();
    expect(outcome.tls).toBeUndefined();
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each<[string, string, string]>([
    ['tls_handshake_failed', 'plain HTTP', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['tls_protocol_unsupported', 'an alert that no version is common', '\x15\x03\x01\x00\x02\x02\x46'],
    ['tls_handshake_failed', 'an alert of handshake failure', '\x15\x03\x01\x00\x02\x02\x28'],
    ['connection_closed', 'nothing', ''],
  ])('ends the check with %s where the server answers %s', async (code, _reason, answer) => {
    const port = await startRaw((socket) => socket.once('data', () => socket.end(Buffer.from(answer, 'latin1'))));

    const outcome = await check(port);

    expect(outcome).toMatchObject({ result: 'failure', error: { code, phase: 'tls', source: 'target' } });
  });

  it.each([
    ['127.0.0.1', 'no name was sent (SNI), since the host of the URL is an address'],
    ['good.test', 'The server does not know the name of the host.'],
  ])('says whether a server that refuses the name was sent one: %s', async (host, message) => {
    const alert = Buffer.from('15030300020270', 'hex');
    const port = await startRaw((socket) => socket.once('data', () => socket.end(alert)));

    const { error } = await checkOf(`https://${host}:${port}/`, {}, hosts);

    expect(error).toMatchObject({ code: 'tls_handshake_failed', phase: 'tls' });
    expect(error?.message).toContain(message);
  });

  it('ends the check, and not the process, if the key of the certificate cannot be read', async () => {
    const unreadable = new X509Certificate(withUnreadableKey(good).cert).raw;
    const port = await startRaw((socket) => socket.once('data', () => socket.write(serverFlight([unreadable]))));

    const outcome = await check(port);

    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'tls_handshake_failed', phase: 'tls' } });
    expect(outcome.sslSubject).toBe('good.test');
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each([
    [
      'asked for',
      true,
      'The TLS handshake failed (tlsv1 alert decode error). Before that it asked for a certificate of the client.',
    ],
    ['not asked for', false, 'The TLS handshake failed (tlsv1 alert decode error).'],
  ])(
    'of the client is named where it was %s and an alert came that says something else',
    async (_reason, requests, message) => {
      const { raw } = new X509Certificate(leaf({ key: ['rsa:2048'] }).cert);
      // The suite is AES128-SHA, which needs no ServerKeyExchange; the alert is the one that GnuTLS sends if a
      // certificate is missing.
      const flight = [serverFlight([raw], { suite: '002f', requests }), Buffer.from('15030300020232', 'hex')];
      const port = await startRaw((socket) => socket.once('data', () => socket.write(Buffer.concat(flight))));

      const outcome = await check(port);

      expect(outcome).toMatchObject({ result: 'failure', sslSubject: 'good.test', error: { phase: 'tls', message } });
    },
  );

  it.each([
    ['/C=DE/O=Firm, Inc. \\+ Söhne/CN=CA', 'Firm, Inc. + Söhne'],
    ['/O=Quote \\"x\\"/CN=CA', 'Quote "x"'],
    ['/O=First/O=Second/CN=CA', 'First'],
    ['/CN=O=not an organization', 'O=not an organization'],
  ])('of the issuer %s names the issuer %s', async (subject, expected) => {
    const issuer = mint.issue({ subject, ca: true });
    const port = await serve(leaf({ issuer }), [issuer]);

    const outcome = await check(port, { insecureSSL: true });

    expect(outcome.sslIssuer).toBe(expected);
  });

  it('ends the check with connection_reset where the server resets the handshake', async () => {
    const port = await startRaw((socket) => socket.once('data', () => socket.resetAndDestroy()));

    const outcome = await check(port);

    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'connection_reset', phase: 'tls' } });
  });

  it('ends the check at its deadline where the handshake is silent', async () => {
    const deadline = new AbortController();
    const port = await startRaw((socket) => socket.once('data', () => deadline.abort()));

    const outcome = await checkOf(`https://good.test:${port}/`, {}, { ...hosts, signal: deadline.signal });

    expect(outcome).toMatchObject({ result: 'timeout', error: { code: 'timed_out', phase: 'tls', source: 'network' } });
    expect(outcome.timings?.connect).toBeGreaterThan(0);
  });

  it('ends the check where the server insists on a certificate of the client', async () => {
    const port = await serve(good, [intermediate], { requestCert: true, rejectUnauthorized: true });

    const outcome = await check(port);

    expect(outcome).toMatchObject({ result: 'failure', error: { phase: 'request' } });
    expect(outcome.error?.message).toContain('a certificate of the client');
    expect(outcome.tls).toMatchObject({ authorized: true, clientCertificateRequested: true });
  });
});

const AIA = 'authorityInfoAccess = caIssuers;URI:http://ca.test/intermediate.crt';
const hosts = { hosts: { 'good.test': ['127.0.0.1'] } };

function check(port: number, fields: Parameters<typeof checkOf>[1] = {}, host = 'good.test') {
  return checkOf(`https://${host}:${port}/`, fields, { ...hosts, certificateAuthorities: [root.cert] });
}

function request(changes: Partial<Parameters<CertificateMint['issue']>[0]>) {
  return { subject: '/CN=good.test', names: ['DNS:good.test', 'IP:127.0.0.1'], ...changes };
}

function leaf(changes: Partial<Parameters<CertificateMint['issue']>[0]>): Issued {
  return mint.issue({ issuer: intermediate, ...request(changes) });
}

function serve(
  { cert, key }: Issued,
  chain: readonly Issued[],
  options: TlsOptions & { onData?: () => void; onServerName?: (name: unknown) => void } = {},
): Promise<number> {
  const { onData, onServerName, ...tlsOptions } = options;
  // A test of certificates that OpenSSL would not serve by default needs level 0 on this side too.
  const context = { ciphers: 'DEFAULT@SECLEVEL=0', ALPNProtocols: ['http/1.1'], ...tlsOptions };
  const server = createServer({ cert: [cert, ...chain.map((one) => one.cert)].join('\n'), key, ...context });
  server.on('tlsClientError', () => undefined);
  server.on('secureConnection', (socket) => {
    onServerName?.(socket.servername);
    socket.on('error', () => undefined);
    socket.once('data', () => {
      onData?.();
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
  });
  return start(server);
}

/** ServerHello and Certificate of TLS 1.2 (RFC 5246 section 7.4), followed by other messages. */
function serverFlight(
  certificates: readonly Buffer[],
  { suite = 'c02b', requests = false }: { readonly suite?: string; readonly requests?: boolean } = {},
): Buffer {
  const sized = (bytes: number, content: Buffer): Buffer => {
    const length = Buffer.alloc(bytes);
    length.writeUIntBE(content.length, 0, bytes);
    return Buffer.concat([length, content]);
  };
  const message = (type: number, content: Buffer): Buffer => Buffer.concat([Buffer.from([type]), sized(3, content)]);
  // A session without an id, and the renegotiation_info that OpenSSL insists on.
  const hello = Buffer.concat([
    Buffer.from('0303', 'hex'),
    Buffer.alloc(32, 7),
    Buffer.from(`00${suite}000005ff01000100`, 'hex'),
  ]);
  const list = Buffer.concat(certificates.map((certificate) => sized(3, certificate)));
  // CertificateRequest (RFC 5246 section 7.4.4) for RSA keys, SHA-256 and any authority.
  const request = requests ? [message(13, Buffer.from('0101000204010000', 'hex'))] : [];
  const messages = Buffer.concat([message(2, hello), message(11, sized(3, list)), ...request]);
  return Buffer.concat([Buffer.from('160303', 'hex'), sized(2, messages)]);
}
