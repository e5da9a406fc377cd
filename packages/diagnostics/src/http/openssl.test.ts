import { X509Certificate } from 'node:crypto';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import {
  certificateMint,
  opensslVersion,
  withUnreadableKey,
  type CertificateMint,
  type Issued,
} from '../../test/certificate-mint.ts';
import { checkOf, problemsOf } from '../../test/http.ts';
import { ipv6Missing } from '../../test/needs.ts';
import { startOpensslServer, type OpensslServer, type OpensslServerOptions } from '../../test/openssl-server.ts';

const openssl = opensslVersion();
if (openssl === null && process.env['CI'] !== undefined) throw new Error('In CI these tests need openssl.');
const describeWithOpenssl = openssl === null ? describe.skip : describe;

let mint: CertificateMint;
let root: Issued;
let intermediate: Issued;
let stranger: Issued;
let good: Issued;
const running: OpensslServer[] = [];

const AIA = 'authorityInfoAccess = caIssuers;URI:http://ca.test/intermediate.crt';
const OCSP_SIGNING = 'extendedKeyUsage = OCSPSigning';

describeWithOpenssl('a check of openssl s_server (skipped without the openssl command)', () => {
  beforeAll(() => {
    mint = certificateMint();
    root = mint.issue({ subject: '/C=DE/O=Test Trust/CN=Test Root', ca: true });
    intermediate = mint.issue({ subject: '/O=Test Trust/CN=Test Intermediate', ca: true, issuer: root });
    stranger = mint.issue({ subject: '/O=Nobody/CN=Stranger Root', ca: true });
    good = leaf({});
  });
  afterAll(() => mint?.close());
  afterEach(async () => {
    await Promise.all(running.splice(0).map(({ close }) => close()));
  });

  it.each<[string, string, () => OpensslServerOptions]>([
    ['tls_expired', 'past its end', () => sending(leaf({ from: -90, until: -1 }))],
    ['tls_not_yet_valid', 'before its start', () => sending(leaf({ from: 1, until: 90 }))],
    ['tls_hostname_mismatch', 'for another host', () => sending(leaf({ names: ['DNS:other.test'] }))],
    ['tls_self_signed', 'signed by itself', () => ({ certificate: mint.issue({ ...plain }) })],
    ['tls_unknown_issuer', 'of a root that nobody knows', () => sending(leaf({ issuer: stranger }), stranger)],
    ['tls_unknown_issuer', 'of such a root, alone', () => ({ certificate: leaf({ issuer: stranger }) })],
    ['tls_missing_intermediate', 'without its intermediate', () => ({ certificate: leaf({ extensions: [AIA] }) })],
    ['tls_weak_key', 'with an RSA key of 1024 bits', () => sending(leaf({ key: ['rsa:1024'] }))],
    ['tls_weak_key', 'with a signature over SHA-1', () => sending(leaf({ digest: 'sha1' }))],
    ['tls_untrusted', 'for clients only', () => sending(leaf({ extensions: ['extendedKeyUsage = clientAuth'] }))],
    ['tls_revoked', 'revoked by its staple', () => ({ ...sending(good), staple: staple({ revoked: true }) })],
  ])('ends with %s where the certificate is %s, and shows it', async (code, _reason, options) => {
    const server = await serve(options());

    const outcome = await check(server);

    expect(outcome).toMatchObject({ result: 'failure', rt: null, sslSubject: 'good.test', sslVersion: 'TLSv1.3' });
    expect(outcome.error).toMatchObject({ code, phase: 'tls', source: 'target' });
    expect(outcome.tls).toMatchObject({ authorized: false, authorizationError: code });
    expect(outcome.tls?.chain[0]?.subject).toBe('CN=good.test');
    expect(outcome.statusCode).toBeUndefined();
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('goes on with insecureSSL, and says still what is wrong', async () => {
    const server = await serve({ ...sending(good), staple: staple({ revoked: true }) });

    const outcome = await check(server, { insecureSSL: true });

    expect(outcome).toMatchObject({ result: 'success', statusCode: 200, error: null });
    expect(outcome.tls).toMatchObject({ authorized: false, authorizationError: 'tls_revoked' });
  });

  it.each([
    ['TLSv1', '-tls1'],
    ['TLSv1.1', '-tls1_1'],
    ['TLSv1.2', '-tls1_2'],
    ['TLSv1.3', '-tls1_3'],
  ])('reads %s, and the staple that comes in it', async (version, argument) => {
    const server = await serve({ ...sending(good), staple: staple({}), args: ['-www', argument] });

    const outcome = await check(server);

    expect(outcome).toMatchObject({ result: 'success', sslVersion: version, statusText: 'ok', httpVersion: '1.0' });
    expect(outcome.tls).toMatchObject({ protocol: version, authorized: true, ocsp: { status: 'good' } });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('shows the certificate also where the handshake failed after it', async () => {
    const server = await serve({ ...sending(good), args: ['-www', '-tls1_2', '-Verify', '1'] });

    const outcome = await check(server);

    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'tls_handshake_failed', phase: 'tls' } });
    expect(outcome).toMatchObject({ sslSubject: 'good.test', sslIssuer: 'Test Trust', sslVersion: 'TLSv1.2' });
    expect(outcome.tls).toBeUndefined();
    expect(problemsOf(outcome)).toEqual([]);
  });

  const nothingForIpv6: [string, string, RegExp | null] = ['nothing for an IPv6 literal', '[::1]', null];
  it.each<[string, string, RegExp | null]>([
    ['the name of a URL', 'good.test', /"server name".*\n.*good\.test/],
    ['nothing for an IPv4 literal', '127.0.0.1', null],
    ...(ipv6Missing() === null ? [nothingForIpv6] : []),
  ])('sends as SNI %s, as the server sees it', async (_reason, host, expected) => {
    const options = sending(leaf({ names: ['DNS:good.test', 'IP:127.0.0.1', 'IP:::1'] }));
    const server = await serve({ ...options, host: host.startsWith('[') ? host : '127.0.0.1' });

    const outcome = await check(server, {}, host);

    expect(outcome.result).toBe('success');
    expect(server.output()).toContain('TLS client extension "supported versions"');
    if (expected === null) expect(server.output()).not.toContain('"server name"');
    else expect(server.output()).toMatch(expected);
  });

  describe('that staples an OCSP response', () => {
    it('shows what it says, and whose signature it has', async () => {
      const server = await serve({ ...sending(good), staple: staple({ revoked: true }) });

      const outcome = await check(server);

      expect(outcome.tls?.ocsp).toEqual({
        status: 'revoked',
        thisUpdate: expect.stringMatching(/^\d{4}-.*Z$/),
        nextUpdate: expect.stringMatching(/^\d{4}-.*Z$/),
        current: true,
        revokedAt: '2026-01-01T00:00:00.000Z',
        revocationReason: 'keyCompromise',
        signature: 'issuer',
      });
    });

    it.each<[string, string, object, () => Partial<OpensslServerOptions>]>([
      ['no response', 'authorized', { ocsp: null }, () => ({})],
      [
        'one of a responder that the issuer named',
        'revoked',
        { ocsp: { status: 'revoked', signature: 'responder' } },
        () => ({ staple: staple({ revoked: true, responder: responder([OCSP_SIGNING]) }) }),
      ],
      [
        'one of a responder that was not named for it',
        'authorized',
        { ocsp: { status: 'revoked', signature: 'invalid' } },
        () => ({ staple: staple({ revoked: true, responder: responder([]) }) }),
      ],
      [
        'one of a stranger',
        'authorized',
        { ocsp: { status: 'revoked', signature: 'invalid' } },
        () => ({ staple: staple({ revoked: true, responder: stranger }) }),
      ],
      [
        'one about another certificate',
        'authorized',
        { ocsp: { status: 'foreign', signature: 'unchecked' } },
        () => ({ staple: mint.ocspResponse({ certificate: leaf({}), issuer: intermediate, revoked: true }) }),
      ],
      [
        'one about the same number of another issuer',
        'authorized',
        { ocsp: { status: 'foreign', signature: 'unchecked' } },
        () => ({ staple: mint.ocspResponse({ certificate: good, issuer: stranger, revoked: true }) }),
      ],
      // The status `tryLater` (RFC 6960 section 4.2.1), and nothing more.
      ['that it has none now', 'authorized', { ocsp: { status: 'error' } }, () => ({ staple: errorStatus(3) })],
    ])('such as %s: %s', async (_reason, verdict, expected, options) => {
      const server = await serve({ ...sending(good), ...options() });

      const outcome = await check(server);

      const revoked = verdict === 'revoked';
      expect(outcome.tls).toMatchObject(expected);
      expect(outcome.tls?.authorizationError).toBe(revoked ? 'tls_revoked' : null);
      expect(problemsOf(outcome)).toEqual([]);
    });
  });

  it('is shown with the chain from it up, whatever else is sent, and in which order', async () => {
    const server = await serve(sending(good, withUnreadableKey(intermediate), root, stranger, intermediate));

    const outcome = await check(server);

    expect(outcome.error).toBeNull();
    expect(outcome.tls?.chain.map(({ subject }) => subject)).toEqual([
      'CN=good.test',
      'O=Test Trust, CN=Test Intermediate',
      'C=DE, O=Test Trust, CN=Test Root',
    ]);
    expect(outcome.tls?.chain[1]?.keyBits).toBe(256);
  });

  it('shows a certificate with thousands of names, some of them', async () => {
    const names = ['DNS:good.test', ...Array.from({ length: 2_999 }, (_, at) => `DNS:n${at}.test`)];
    const server = await serve(sending(leaf({ names })));

    const outcome = await check(server);

    expect(outcome).toMatchObject({ result: 'success', tls: { authorized: true } });
    expect(outcome.tls?.chain[0]?.subjectAltNames).toHaveLength(50);
    expect(outcome.tls?.chain[0]?.subjectAltNameCount).toBe(3_000);
    expect(Buffer.byteLength(JSON.stringify(outcome))).toBeLessThan(64 * 1024);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('ends, and makes no second handshake, where the server asks for a renegotiation', async () => {
    const server = await serve({ ...sending(good), args: ['-tls1_2'] });
    const outcome = check(server);
    await until(() => server.output().includes('GET / HTTP/1.1'));

    server.command('r');

    expect(await outcome).toMatchObject({ result: 'failure', sslVersion: 'TLSv1.2', error: { source: 'target' } });
    expect(server.output().split('GET / HTTP/1.1')[1]).not.toContain('TLS client extension');
  });

  it('finds in a certificate what openssl x509 finds', async () => {
    const server = await serve(sending(good));

    const { tls } = await check(server);

    const parsed = new X509Certificate(good.cert);
    expect(tls?.chain[0]).toMatchObject({ serialNumber: parsed.serialNumber, fingerprint256: parsed.fingerprint256 });
    expect(tls?.cipher).toMatch(/^TLS_/);
  });
});

const plain = { subject: '/CN=good.test', names: ['DNS:good.test'] };

async function serve(options: OpensslServerOptions): Promise<OpensslServer> {
  const server = await startOpensslServer(options);
  running.push(server);
  return server;
}

function check({ port }: OpensslServer, fields: Parameters<typeof checkOf>[1] = {}, host = 'good.test') {
  const context = { hosts: { 'good.test': ['127.0.0.1'] }, certificateAuthorities: [root.cert] };
  return checkOf(`https://${host}:${port}/`, fields, context);
}

function sending(certificate: Issued, ...chain: readonly Issued[]): OpensslServerOptions {
  return { certificate, chain: chain.length === 0 ? [intermediate] : chain };
}

function leaf(changes: Partial<Parameters<CertificateMint['issue']>[0]>): Issued {
  return mint.issue({ issuer: intermediate, ...plain, ...changes });
}

function responder(extensions: readonly string[]): Issued {
  return mint.issue({ subject: '/O=Test Trust/CN=Responder', issuer: intermediate, extensions });
}

function staple(changes: Partial<Parameters<CertificateMint['ocspResponse']>[0]>): Buffer {
  return mint.ocspResponse({ certificate: good, issuer: intermediate, ...changes });
}

function errorStatus(status: number): Buffer {
  return Buffer.from([0x30, 3, 0x0a, 1, status]);
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}
