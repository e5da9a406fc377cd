import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { until } from '@vantage/test-support/until';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import {
  certificateMint,
  opensslVersion,
  withUnreadableKey,
  type CertificateMint,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import { checkOf, problemsOf } from '../../../test/http.ts';
import { ipv6Missing } from '@vantage/test-support/needs';
import { startOpensslServer, type OpensslServer, type OpensslServerOptions } from '../../../test/openssl-server.ts';

const openssl = opensslVersion();
if (openssl === null && process.env['CI'] !== undefined) throw new Error('In CI these tests need openssl.');
const describeWithOpenssl = openssl === null ? describe.skip : describe;

let mint: CertificateMint;
let root: Issued;
let intermediate: Issued;
let stranger: Issued;
let good: Issued;
let folder: string;
const running: OpensslServer[] = [];

const AIA = 'authorityInfoAccess = caIssuers;URI:http://ca.test/intermediate.crt';
const OCSP_SIGNING = 'extendedKeyUsage = OCSPSigning';

describeWithOpenssl('a check of openssl s_server (skipped without the openssl command)', () => {
  beforeAll(() => {
    mint = certificateMint();
    folder = mkdtempSync(join(tmpdir(), 'vantage-dh-'));
    root = mint.issue({ subject: '/C=DE/O=Test Trust/CN=Test Root', ca: true });
    intermediate = mint.issue({ subject: '/O=Test Trust/CN=Test Intermediate', ca: true, issuer: root });
    stranger = mint.issue({ subject: '/O=Unknown/CN=Stranger Root', ca: true });
    good = leaf({});
  });
  afterAll(() => {
    mint?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map(({ close }) => close()));
  });

  it.each<[string, string, () => OpensslServerOptions]>([
    ['tls_expired', 'past its end', () => sending(leaf({ from: -90, until: -1 }))],
    ['tls_not_yet_valid', 'before its start', () => sending(leaf({ from: 1, until: 90 }))],
    ['tls_hostname_mismatch', 'for another host', () => sending(leaf({ names: ['DNS:other.test'] }))],
    ['tls_self_signed', 'self-signed', () => ({ certificate: mint.issue({ ...plain }) })],
    ['tls_unknown_issuer', 'of an unknown root', () => sending(leaf({ issuer: stranger }), stranger)],
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

  it.each<[string, string, string, string]>([
    ['in the handshake of TLS 1.0', '-tls1', 'TLSv1', 'tls'],
    ['in the handshake of TLS 1.2', '-tls1_2', 'TLSv1.2', 'tls'],
    ['after that of TLS 1.3', '-tls1_3', 'TLSv1.3', 'request'],
  ])(
    'says that a certificate of the client is required, %s, and shows that of the server',
    async (_reason, version, sslVersion, phase) => {
      const args = ['-www', version, '-Verify', '1', '-alpn', 'http/1.1'];
      const server = await serve({ ...sending(good), args });

      const outcome = await check(server);

      const message = 'The server requires a certificate of the client.';
      expect(outcome).toMatchObject({ result: 'failure', error: { code: 'tls_handshake_failed', phase, message } });
      expect(outcome).toMatchObject({ sslSubject: 'good.test', sslIssuer: 'Test Trust', sslVersion });
      expect(outcome.tls).toMatchObject({
        protocol: sslVersion,
        alpn: 'http/1.1',
        authorized: true,
        chainLength: 3,
        clientCertificateRequested: true,
        cipher: expect.stringMatching(/^TLS_/),
      });
      expect(problemsOf(outcome)).toEqual([]);
    },
  );

  it.each<[string, ServerOptions, object]>([
    [
      'that answers',
      { ecdhCurve: 'X25519MLKEM768' },
      { result: 'success', timings: { retries: expect.any(Number) }, tls: { authorized: true, keyExchange: null } },
    ],
    [
      'that fails again',
      { ciphers: 'ADH-AES128-SHA256:@SECLEVEL=0', maxVersion: 'TLSv1.2' },
      { result: 'failure', error: { code: 'tls_handshake_failed', phase: 'tls' } },
    ],
  ])('connects once more with post-quantum groups to a server %s', async (_end, options, expected) => {
    const pair = { key: good.key, cert: `${good.cert}${intermediate.cert}` };
    const server = createServer({ ...pair, ...options }, (_request, response) => response.end('ok'));
    let connections = 0;
    server.on('connection', () => connections++).listen(0, '127.0.0.1');
    await once(server, 'listening');

    const outcome = await check(server.address() as AddressInfo);
    server.close();

    expect(outcome).toMatchObject(expected);
    expect(connections).toBe(2);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('shows what else is wrong where a certificate of the client is required', async () => {
    const expired = sending(leaf({ from: -90, until: -1 }));
    const server = await serve({ ...expired, args: ['-www', '-tls1_2', '-Verify', '1'] });

    const outcome = await check(server);

    expect(outcome).toMatchObject({ error: { code: 'tls_handshake_failed', phase: 'tls' } });
    expect(outcome.tls).toMatchObject({ authorized: false, authorizationError: 'tls_expired' });
  });

  it.each([
    ['asked for, in TLS 1.2', ['-tls1_2', '-verify', '1'], true],
    ['asked for, in TLS 1.3', ['-tls1_3', '-verify', '1'], true],
    ['not asked for, in TLS 1.2', ['-tls1_2'], false],
    ['not asked for, in TLS 1.3', ['-tls1_3'], false],
  ])('shows whether a certificate of the client is %s', async (_reason, args, expected) => {
    const server = await serve({ ...sending(good), args: ['-www', ...args] });

    const outcome = await check(server);

    expect(outcome).toMatchObject({ result: 'success', tls: { clientCertificateRequested: expected } });
  });

  it.each([
    ['another cipher list', ['-tls1_2', '-cipher', 'PSK']],
    ['another signature', ['-tls1_2', '-sigalgs', 'RSA+SHA256']],
  ])('does not blame the client’s certificate for %s', async (_reason, args) => {
    const server = await serve({ ...sending(good), args: ['-www', '-Verify', '1', ...args] });

    const outcome = await check(server);

    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'tls_handshake_failed', phase: 'tls' } });
    expect(outcome.error?.message).not.toContain('certificate of the client');
  });

  it.each<[string, readonly string[], string, object | null]>([
    ['DH of the server', ['-tls1_2', '-cipher', 'DHE@SECLEVEL=0'], 'TLSv1.2', { group: 'DH', bits: 1024 }],
    ['a curve', ['-tls1_2', '-groups', 'P-256'], 'TLSv1.2', { group: 'prime256v1', bits: 256 }],
    ['ffdhe2048 alone', ['-tls1_3', '-groups', 'ffdhe2048'], 'TLSv1.3', { group: 'DH', bits: 2048 }],
    ['X25519', ['-tls1_3'], 'TLSv1.3', { group: 'X25519', bits: 253 }],
    ['RSA', ['-tls1_2', '-cipher', 'AES128-SHA@SECLEVEL=0'], 'TLSv1.2', null],
  ])('shows how the keys were agreed: %s', async (_reason, args, version, keyExchange) => {
    const rsa = leaf({ key: ['rsa:2048'] });
    const dh = args.includes('DHE@SECLEVEL=0') ? ['-dhparam', weakGroup()] : [];
    const server = await serve({ ...sending(rsa), args: ['-www', ...args, ...dh] });

    const outcome = await check(server);

    expect(outcome).toMatchObject({ result: 'success', sslVersion: version, tls: { keyExchange } });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each([
    ['AES-128-CCM', ['-tls1_3', '-ciphersuites', 'TLS_AES_128_CCM_SHA256']],
    ['AES-128-CCM-8', ['-tls1_3', '-ciphersuites', 'TLS_AES_128_CCM_8_SHA256']],
    ['AES-256-GCM', ['-tls1_3', '-ciphersuites', 'TLS_AES_256_GCM_SHA384']],
    ['ChaCha20-Poly1305', ['-tls1_3', '-ciphersuites', 'TLS_CHACHA20_POLY1305_SHA256']],
    ['AES-CCM in TLS 1.2', ['-tls1_2', '-cipher', 'ECDHE-ECDSA-AES128-CCM8']],
    ['Camellia', ['-tls1_2', '-cipher', 'ECDHE-ECDSA-CAMELLIA128-SHA256']],
    ['ARIA', ['-tls1_2', '-cipher', 'ECDHE-ECDSA-ARIA128-GCM-SHA256']],
  ])('speaks %s, and sees all certificates by it', async (_reason, args) => {
    const server = await serve({ ...sending(good, intermediate, stranger), args: ['-www', ...args] });

    const outcome = await check(server);

    expect(outcome).toMatchObject({
      result: 'success',
      tls: { authorized: true, sentCertificates: 3, chainLength: 3 },
    });
  });

  it.each([
    ['a server without encryption', ['-tls1_2', '-cipher', 'NULL@SECLEVEL=0']],
    ['a server without a certificate', ['-tls1_2', '-cipher', 'aNULL@SECLEVEL=0']],
  ])('has no cipher in common with %s', async (_reason, args) => {
    const server = await serve({ ...sending(good), args: ['-www', ...args] });

    expect(await check(server)).toMatchObject({ result: 'failure', error: { code: 'tls_handshake_failed' } });
  });

  it('shows that a certificate demands a staple', async () => {
    const server = await serve(sending(leaf({ extensions: ['tlsfeature = status_request'] })));

    expect(await check(server)).toMatchObject({ result: 'success', tls: { mustStaple: true, ocsp: null } });
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
      // The status `tryLater` (RFC 6960 section 4.2.1) only.
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

  // Node aborts on such a key when it reads the certificates of a trusted connection.
  it.each(['secp256k1', 'brainpoolP256r1'])('goes on where an authority has a key on %s', async (curve) => {
    const key = ['ec', '-pkeyopt', `ec_paramgen_curve:${curve}`];
    const issuer = mint.issue({ subject: '/O=Test Trust/CN=Curve Authority', ca: true, issuer: root, key });
    const server = await serve(sending(leaf({ issuer }), issuer));

    const outcome = await check(server);

    expect(outcome).toMatchObject({ result: 'success', tls: { authorized: true, chainLength: 3 } });
    expect(outcome.tls?.chain[1]).toMatchObject({ keyType: 'ec', keyBits: 256 });
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

  it('keeps to its share of a result, however long the names and many the faults', async () => {
    // OpenSSL allows 64 characters per attribute, and each quote takes two in JSON.
    const long = (at: number): string => `/O=${'"'.repeat(64)}/CN=${`${at}${'"'.repeat(64)}`.slice(0, 64)}`;
    const chain: Issued[] = [];
    for (let at = 0; at < 9; at += 1) {
      const issuer = chain.at(-1);
      chain.push(
        mint.issue({ subject: long(at), ca: true, from: -90, until: -1, ...(issuer && { issuer }), digest: 'sha1' }),
      );
    }
    const names = Array.from({ length: 400 }, (_, at) => `DNS:${'n'.repeat(60)}${at}.test`);
    const certificate = mint.issue({ subject: long(99), names, issuer: chain.at(-1)!, from: -90, until: -1 });
    const server = await serve(sending(certificate, ...chain));

    const outcome = await check(server);

    expect(outcome.tls).toMatchObject({ chainLength: 10, sentCertificates: 10 });
    expect(outcome.tls?.chain).toHaveLength(8);
    expect(outcome.tls?.faults).toHaveLength(8);
    expect(Buffer.byteLength(JSON.stringify(outcome.tls))).toBeLessThan(24 * 1024);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('ends, and makes no second handshake, where the server asks for a renegotiation', async () => {
    const server = await serve({ ...sending(good), args: ['-tls1_2'] });
    const outcome = check(server);
    await until(() => server.output().includes('GET / HTTP/1.1'));

    server.command('r');

    expect(await outcome).toMatchObject({ result: 'failure', sslVersion: 'TLSv1.2', error: { source: 'target' } });
    const { error } = await outcome;
    expect(error).toMatchObject({ code: 'tls_handshake_failed', phase: 'request' });
    expect(error?.message).toContain('the server wanted to negotiate again, such as for a certificate of the client');
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

function check({ port }: Pick<OpensslServer, 'port'>, fields: Parameters<typeof checkOf>[1] = {}, host = 'good.test') {
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

/** The group of 1,024 bits of RFC 2409 section 6.2, as a file for `openssl s_server`. */
function weakGroup(): string {
  const file = join(folder, 'dh.pem');
  const modulus = BigInt(`0x${OAKLEY_GROUP_2}`);
  writeFileSync(join(folder, 'dh.cnf'), `asn1 = SEQUENCE:dh\n[dh]\np = INTEGER:${modulus}\ng = INTEGER:2\n`);
  execFileSync('openssl', ['asn1parse', '-genconf', join(folder, 'dh.cnf'), '-noout', '-out', join(folder, 'dh.der')]);
  const base64 =
    readFileSync(join(folder, 'dh.der'))
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  writeFileSync(file, ['-----BEGIN DH PARAMETERS-----', ...base64, '-----END DH PARAMETERS-----', ''].join('\n'));
  return file;
}

const OAKLEY_GROUP_2 =
  'FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD' +
  'EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED' +
  'EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF';

function errorStatus(status: number): Buffer {
  return Buffer.from([0x30, 3, 0x0a, 1, status]);
}
