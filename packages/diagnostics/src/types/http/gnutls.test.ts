import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import { certificateMint, opensslVersion, type Issued } from '@vantage/test-support/certificate-mint';
import { freeServerPort, startDaemon, type Daemon } from '@vantage/test-support/daemon';
import { packagesMissing, unpackPackages } from '@vantage/test-support/debian-packages';
import { checkOf } from '../../../test/http.ts';
import { itNeeding } from '@vantage/test-support/needs';

const GNUTLS = ['gnutls-bin'];
const missing = opensslVersion() === null ? 'openssl is needed' : await packagesMissing(GNUTLS);
const itWithGnutls = itNeeding(missing, process.env['CI']);

let folder: string;
let certificate: Issued;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vantage-gnutls-'));
  if (missing !== null) return;
  const mint = certificateMint();
  certificate = mint.issue({ subject: '/CN=good.test', names: ['DNS:good.test'] });
  mint.close();
  writeFileSync(join(folder, 'server.crt'), certificate.cert);
  writeFileSync(join(folder, 'server.key'), certificate.key);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a check of gnutls-serv', () => {
  // The server closes right after the client's handshake, while the certificates are evaluated.
  itWithGnutls(
    'says that a certificate of the client is required, though the connection has ended by then',
    async () => {
      const { port, daemon } = await start(['--require-client-cert']);

      const { error, tls } = await check(port);
      await daemon.stop();

      expect(tls).toMatchObject({ protocol: 'TLSv1.3', clientCertificateRequested: true });
      // A reset may overtake the alert and hide it; then the result has only the end of the connection.
      const wasAlert = error?.code === 'tls_handshake_failed';
      expect(error).toMatchObject({ phase: 'request', code: wasAlert ? 'tls_handshake_failed' : 'connection_closed' });
      expect(error?.message).toMatch(
        wasAlert
          ? /^The server requires a certificate of the client\.$/
          : /Before that it asked for a certificate of the client\.$/,
      );
    },
  );

  itWithGnutls('takes a page without a length for whole, since the server ends TLS', async () => {
    const { port, daemon } = await start(['--disable-client-cert']);

    const outcome = await check(port);
    await daemon.stop();

    expect(outcome).toMatchObject({ result: 'success', statusCode: 200, truncated: false });
    expect(outcome.headers?.some(([name]) => name?.toLowerCase() === 'content-length')).toBe(false);
  });
});

async function start(args: readonly string[]): Promise<{ readonly port: number; readonly daemon: Daemon }> {
  const packages = await unpackPackages(...GNUTLS);
  const port = await freeServerPort();
  const files = ['--x509certfile', join(folder, 'server.crt'), '--x509keyfile', join(folder, 'server.key')];
  const isReady = (): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.once('error', reject).once('connect', () => socket.destroy());
    });
  const daemon = await startDaemon(packages, 'gnutls-serv', ['--http', '-p', String(port), ...files, ...args], isReady);
  return { port, daemon };
}

function check(port: number): ReturnType<typeof checkOf> {
  return checkOf(`https://good.test:${port}/`, { insecureSSL: true }, { hosts: { 'good.test': ['127.0.0.1'] } });
}
