import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  certificateMint,
  opensslVersion,
  type CertificateMint,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import { testContext } from '@vantage/test-support/context';
import { servers } from '@vantage/test-support/loopback';

import type { DialogueRules } from './contract.ts';
import { runTcp } from './run.ts';

const hasOpenssl = opensslVersion() !== null;
if (!hasOpenssl && process.env['CI'] === 'true') throw new Error('CI needs openssl.');
const describeWithOpenssl = hasOpenssl ? describe : describe.skip;

const { start, closeAll } = servers();

describeWithOpenssl(
  hasOpenssl ? 'a dialogue over TLS' : 'a dialogue over TLS (skipped: openssl is not installed)',
  () => {
    let mint: CertificateMint;
    let leaf: Issued;

    beforeAll(() => {
      mint = certificateMint();
      leaf = mint.issue({ subject: '/CN=mail.test' });
    });

    afterEach(closeAll);
    afterAll(() => mint.close());

    it.each<[string, TlsOptions, number, object]>([
      ['takes post-quantum groups alone', { ecdhCurve: 'X25519MLKEM768' }, 2, { result: 'success' }],
      [
        'fails with these too',
        { ciphers: 'ADH-AES128-SHA256:@SECLEVEL=0', maxVersion: 'TLSv1.2' },
        2,
        { result: 'failure', error: { code: 'tls_handshake_failed', phase: 'tls' } },
      ],
      ['takes the usual groups', {}, 1, { result: 'success' }],
    ])('has the connections that it needs, if the server %s', async (_kind, options, needed, expected) => {
      let connections = 0;
      const server = createTlsServer({ ...leaf, ...options }, (socket) => {
        socket.on('error', () => undefined).write('220 ready\n');
      });
      const port = await start(server.on('connection', () => connections++));
      const dialogue: DialogueRules = {
        timeoutMs: 30_000,
        tls: true,
        steps: [{ startTls: false, expect: '^220' }],
        tlsOptions: { insecure: true, minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' },
      };

      const asked = { host: '127.0.0.1', port, options: { attempts: 1 }, rules: { dialogue } };
      const outcome = await runTcp(asked, testContext());

      expect(outcome).toMatchObject({ state: 'open', ...expected });
      expect(connections).toBe(needed);
    });
  },
);
