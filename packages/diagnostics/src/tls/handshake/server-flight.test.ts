import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { connect } from 'node:tls';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import {
  certificateMint,
  opensslVersion,
  type CertificateMint,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import { numbers } from '../../../test/numbers.ts';
import { startOpensslServer } from '../../../test/openssl-server.ts';
import { certificateOf } from '../certificate/certificate.ts';
import { handshakeSecretOf, readServerFlight } from './server-flight.ts';
import { tapSocket } from './wire-tap.ts';

const openssl = opensslVersion();
if (openssl === null && process.env['CI'] !== undefined) throw new Error('In CI these tests need openssl.');
const describeWithOpenssl = openssl === null ? describe.skip : describe;

let mint: CertificateMint;
let sent: readonly Issued[];

interface Recorded {
  readonly received: Buffer;
  readonly secret: Buffer | null;
}

describeWithOpenssl('what a server says in its handshake (skipped without the openssl command)', () => {
  beforeAll(() => {
    mint = certificateMint();
    const names = Array.from({ length: 1_500 }, (_, at) => `DNS:n${at}.test`);
    // Above 16 KiB, so that one message spans several records.
    sent = [
      mint.issue({ subject: '/CN=leaf', names }),
      mint.issue({ subject: '/CN=stranger', ca: true }),
      mint.issue({ subject: '/CN=other stranger', ca: true }),
    ];
  });
  afterAll(() => mint?.close());

  it.each([
    ['in clear', ['-tls1_2']],
    ['encrypted', ['-tls1_3']],
    ['encrypted, after a second ClientHello', ['-tls1_3', '-groups', 'P-384']],
    ['and a request for a certificate, in clear', ['-tls1_2', '-verify', '1']],
    ['and a request for a certificate, encrypted', ['-tls1_3', '-verify', '1']],
  ])('is read %s: every certificate in the order in which it was sent', async (_reason, args) => {
    const { received, secret } = await record(args);

    const flight = readServerFlight(received, secret);

    expect(flight.certificates.map((der) => certificateOf(der).parsed.subject)).toEqual([
      'CN=leaf',
      'CN=stranger',
      'CN=other stranger',
    ]);
    expect(flight.asksForCertificate).toBe(args.includes('-verify'));
  });

  it.each([['-tls1_2'], ['-tls1_3']])('is read as far as it came, and nothing is thrown, of %s', async (version) => {
    const { received, secret } = await record([version]);
    const random = numbers(0x5eed);

    for (let length = 0; length < received.length; length += 1 + random(97)) {
      const flight = readServerFlight(received.subarray(0, length), secret);
      expect(flight.certificates.length).toBeLessThanOrEqual(3);
    }
    for (let round = 0; round < 500; round += 1) {
      const changed = Buffer.from(received);
      for (let changes = 1 + random(4); changes > 0; changes -= 1)
        changed[random(random(2) ? 200 : changed.length)] = random(256);
      expect(() => readServerFlight(changed, secret)).not.toThrow();
      expect(() => readServerFlight(changed, null)).not.toThrow();
    }
  });

  it('says nothing of an encrypted one without its secret, or with another', async () => {
    const { received } = await record(['-tls1_3']);

    expect(readServerFlight(received, null).certificates).toEqual([]);
    expect(readServerFlight(received, Buffer.alloc(48, 1)).certificates).toEqual([]);
  });
});

/** Records a handshake with `openssl s_server`. */
async function record(args: readonly string[]): Promise<Recorded> {
  const [certificate, ...chain] = sent as [Issued, ...Issued[]];
  const server = await startOpensslServer({ certificate, chain, args: ['-www', ...args] });
  const socket = connectTcp(server.port, '127.0.0.1');
  await once(socket, 'connect');
  const tap = tapSocket(socket);
  const client = connect({ socket: tap.stream, rejectUnauthorized: false });
  let secret: Buffer | null = null;
  client.on('keylog', (line: Buffer) => {
    secret ??= handshakeSecretOf(line);
  });
  await once(client, 'secureConnect');
  const received = tap.received();
  client.on('error', () => undefined).destroy();
  await server.close();
  return { received, secret };
}
