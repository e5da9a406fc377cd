import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import {
  certificateMint,
  opensslVersion,
  type CertificateMint,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import { chromiumHere, requiredInCi } from '../../../../test/chromium-here.ts';
import { checkOf, paramsOf, problemsOf } from '../../../../test/http.ts';
import { startOpensslServer, type OpensslServer } from '../../../../test/openssl-server.ts';
import type { ChromiumOpinion } from '../../../../test/second-opinions.ts';
import { http } from '../contract.ts';
import { createTrustStore, type TrustStore } from '../../../tls/certificate/trust-store.ts';

const tools = requiredInCi(opensslVersion() === null ? 'openssl is needed' : null);
const { missing: chromiumMissing, open: openChromium } = await chromiumHere(tools);

const HOST = 'tls.test';
const MISMATCH = 'ERR_SSL_VERSION_OR_CIPHER_MISMATCH';

let mint: CertificateMint;
let rsa: Issued;
let ec: Issued;
let ed: Issued;
let authority: Issued;
let trust: TrustStore;
let chromium: ChromiumOpinion | undefined;

beforeAll(async () => {
  if (tools !== null) return;
  mint = certificateMint();
  authority = mint.issue({ subject: '/CN=Root', ca: true });
  const issued = { subject: `/CN=${HOST}`, names: [`DNS:${HOST}`], issuer: authority };
  rsa = mint.issue({ ...issued, key: ['rsa:2048'] });
  ec = mint.issue(issued);
  ed = mint.issue({ ...issued, key: ['ed25519'] });
  trust = createTrustStore([authority.cert]);
  chromium = await openChromium({ roots: [authority], servers: [] });
});

afterAll(async () => {
  await chromium?.close();
  mint?.close();
});

const suite = (name: string): readonly string[] => ['-tls1_2', '-cipher', `${name}:@SECLEVEL=0`];

interface Row {
  /** What the server takes. */
  readonly name: string;
  readonly certificate: () => Issued;
  readonly args: readonly string[];
  /** What of it the result says that Chromium does not offer; undefined if Chromium connects. */
  readonly refused?: string;
}

/** The rows without `refused` are the nearest situations in which Chromium connects. */
const rows: readonly Row[] = [
  { name: 'all of OpenSSL', certificate: () => ec, args: [] },
  { name: 'RSA with AES-CBC and SHA-1', certificate: () => rsa, args: suite('AES128-SHA') },
  {
    name: 'RSA with AES-CBC and SHA-256',
    certificate: () => rsa,
    args: suite('AES128-SHA256'),
    refused: 'the cipher suite TLS_RSA_WITH_AES_128_CBC_SHA256',
  },
  {
    name: 'DHE alone',
    certificate: () => rsa,
    args: suite('DHE-RSA-AES128-GCM-SHA256'),
    refused: 'the cipher suite TLS_DHE_RSA_WITH_AES_128_GCM_SHA256',
  },
  {
    name: 'DHE rather than ECDHE',
    certificate: () => rsa,
    args: ['-serverpref', ...suite('DHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384')],
  },
  {
    name: 'Camellia',
    certificate: () => rsa,
    args: suite('ECDHE-RSA-CAMELLIA128-SHA256'),
    refused: 'the cipher suite TLS_ECDHE_RSA_WITH_CAMELLIA_128_CBC_SHA256',
  },
  { name: 'ECDHE with AES-CBC, of RSA', certificate: () => rsa, args: suite('ECDHE-RSA-AES128-SHA') },
  {
    name: 'ECDHE with AES-CBC, of ECDSA',
    certificate: () => ec,
    args: suite('ECDHE-ECDSA-AES128-SHA'),
    refused: 'the cipher suite TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA',
  },
  {
    name: 'AES-CCM in TLS 1.3',
    certificate: () => ec,
    args: ['-tls1_3', '-ciphersuites', 'TLS_AES_128_CCM_SHA256'],
    refused: 'the cipher suite TLS_AES_128_CCM_SHA256',
  },
  { name: 'P-384', certificate: () => ec, args: ['-tls1_3', '-groups', 'P-384'] },
  {
    name: 'P-521 in TLS 1.3',
    certificate: () => ec,
    args: ['-tls1_3', '-groups', 'P-521'],
    refused: 'the group secp521r1',
  },
  { name: 'P-521 or RSA in TLS 1.2', certificate: () => rsa, args: ['-tls1_2', '-groups', 'P-521'] },
  {
    name: 'a finite field in TLS 1.3',
    certificate: () => ec,
    args: ['-tls1_3', '-groups', 'ffdhe2048'],
    refused: 'the group ffdhe2048',
  },
  {
    name: 'SHA-1 to sign',
    certificate: () => rsa,
    args: ['-tls1_2', '-sigalgs', 'RSA+SHA1'],
    refused: 'the signature algorithm rsa_pkcs1_sha1',
  },
  {
    name: 'a key that signs otherwise',
    certificate: () => ed,
    args: [],
    refused: 'the signature algorithm ed25519',
  },
];

(tools === null ? describe : describe.skip)('a server that takes', () => {
  const other = chromiumMissing === null ? ', as Chromium finds' : ` (Chromium skipped: ${chromiumMissing})`;
  it.each(rows)(`$name is refused by Chromium, or not${other}`, async ({ certificate, args, refused }) => {
    await using server = await serve(certificate(), args);

    const outcome = await check(server.port);

    expect(outcome.result).toBe('success');
    if (refused === undefined) expect(outcome.tls).not.toHaveProperty('chromiumRefusal');
    else expect(outcome.tls?.chromiumRefusal).toContain(`chose ${refused}, which Chromium does not offer`);
    expect(problemsOf(outcome)).toEqual([]);
    if (chromium === undefined) return;
    expect(await chromium.visit({ host: HOST, port: server.port })).toBe(refused === undefined ? '200' : MISMATCH);
  });

  it('a key that signs otherwise, and has another certificate for Chromium, is not refused', async () => {
    await using other = await serve(rsa, []);
    await using server = await serve(ed, []);
    // By the ClientHello, as a server does with several certificates: of Chromium's offer Ed25519 is none.
    await using front = await startFront((hello) =>
      connect(offersEd25519(hello) ? server.port : other.port, '127.0.0.1'),
    );

    const outcome = await check(front.port);

    expect(outcome.tls?.chain[0]).toMatchObject({ keyType: 'ed25519' });
    expect(outcome.tls).not.toHaveProperty('chromiumRefusal');
    expect(outcome.tls).not.toHaveProperty('chromiumFaults');
    expect(front.connections()).toBe(2);
  });

  it.each([['-tls1_3'], ['-tls1_2']])(
    `a key of P-521, and has one of RSA for Chromium (%s)${other}`,
    async (version) => {
      const key = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-521'];
      const first = mint.issue({ subject: `/CN=${HOST}`, names: [`DNS:${HOST}`], issuer: authority, key });
      const running = await startOpensslServer({ certificate: first, second: rsa, args: ['-www', version] });
      await using server = { ...running, [Symbol.asyncDispose]: running.close };

      const outcome = await check(server.port);

      expect(outcome.tls?.chain[0]).toMatchObject({ keyBits: 521 });
      if (chromium !== undefined) expect(await chromium.visit({ host: HOST, port: server.port })).toBe('200');
      expect(outcome.tls).not.toHaveProperty('chromiumFaults');
      expect(outcome.tls).not.toHaveProperty('chromiumRefusal');
    },
  );

  it.each([
    ['the usual suites, which costs no further connection', 'ECDHE-RSA-AES128-GCM-SHA256', 1],
    ['none of Chromium’s suites, which costs five', 'AES128-SHA256', 6],
  ])('%s', async (_reason, name, connections) => {
    await using server = await serve(rsa, suite(name));
    await using front = await startFront(() => connect(server.port, '127.0.0.1'));

    expect((await check(front.port)).result).toBe('success');
    expect(front.connections()).toBe(connections);
  });

  it('none of Chromium’s suites, with certificates of 90 kB, is given up within the bytes that are counted', async () => {
    const long = Array.from({ length: 1_800 }, (_none, at) => `DNS:${String(at).padStart(40, 'a')}.example`);
    const issued = mint.issue({ subject: '/CN=Long', names: long });
    await using server = await serve(rsa, suite('AES128-SHA256'), [issued]);
    await using front = await startFront(() => connect(server.port, '127.0.0.1'));

    const outcome = await check(front.port);

    expect(outcome.result).toBe('success');
    expect(front.sent()).toBeGreaterThan(150_000);
    expect(front.sent()).toBeLessThan(http.traffic(paramsOf('https://a.example/')).bytes);
    expect(outcome.tls).not.toHaveProperty('chromiumRefusal');
  });

  it('another group of ML-KEM alone is refused by Chromium', async () => {
    const options = { ...ec, ecdhCurve: 'SecP256r1MLKEM768' };
    await using server = await listen(createSecureServer(options, (_request, response) => response.end('ok')));

    const outcome = await check(server.port);

    expect(outcome.tls?.chromiumRefusal).toContain('chose the group SecP256r1MLKEM768, which Chromium does not offer');
    if (chromium !== undefined) expect(await chromium.visit({ host: HOST, port: server.port })).toBe(MISMATCH);
  });

  it('nothing that Chromium offers, and closes its connections without an alert, is refused', async () => {
    await using server = await serve(rsa, suite('AES128-SHA256'));
    await using front = await startFront((hello) =>
      offersEd25519(hello) ? connect(server.port, '127.0.0.1') : Buffer.alloc(0),
    );

    expect((await check(front.port)).tls?.chromiumRefusal).toContain(
      'no handshake with what Chromium offers succeeded',
    );
  });

  const [OK, CLOSED, PLAIN] = [
    'served',
    Buffer.alloc(0),
    Buffer.from('HTTP/1.1 429 Too Many Requests\r\n\r\n'),
  ] as const;
  it.each([
    ['fails once with “internal error”', [OK, alert(80)]],
    ['refuses once with “access denied”', [OK, alert(49)]],
    ['has a backend without a certificate, for each second connection', [OK, alert(40), OK, alert(40), OK, alert(40)]],
    ['closes each second connection', [OK, CLOSED, OK, CLOSED, OK, CLOSED]],
    ['closes each third connection', [OK, CLOSED, OK, OK, CLOSED, OK]],
    ['closes two connections', [OK, CLOSED, CLOSED]],
    ['takes one connection alone', [OK, CLOSED, CLOSED, CLOSED, CLOSED, CLOSED]],
    ['takes each third connection alone', [OK, CLOSED, CLOSED, OK, CLOSED, CLOSED]],
    ['limits connections by an answer without TLS', [OK, PLAIN, PLAIN, OK, OK, PLAIN]],
  ])('what Chromium offers, rather takes something else, and %s, is not refused', async (_reason, answers) => {
    await using server = await serve(rsa, ['-serverpref', ...suite('DHE-RSA-AES128-GCM-SHA256:ECDHE+AESGCM')]);
    let at = 0;
    await using front = await startFront(() => {
      const answer = answers[at++] ?? OK;
      return answer === OK ? connect(server.port, '127.0.0.1') : answer;
    });

    const outcome = await check(front.port);

    expect(outcome).toMatchObject({ result: 'success', tls: { cipher: 'TLS_DHE_RSA_WITH_AES_128_GCM_SHA256' } });
    expect(front.connections()).toBeGreaterThan(1);
    expect(outcome.tls).not.toHaveProperty('chromiumRefusal');
  });

  it('what Chromium offers is not refused by up to five servers in turn, whichever fail', async () => {
    await using server = await serve(rsa, ['-serverpref', ...suite('DHE-RSA-AES128-GCM-SHA256:ECDHE+AESGCM')]);
    for (const count of [2, 3, 4, 5]) {
      // The first serves the request, and the second fails; else there is no refusal.
      for (let others = 0; others < 2 ** (count - 2); others += 1) {
        const fails = [false, true, ...Array.from({ length: count - 2 }, (_none, bit) => (others & (1 << bit)) !== 0)];
        let at = 0;
        await using front = await startFront(() =>
          fails[at++ % count]! ? alert(80) : connect(server.port, '127.0.0.1'),
        );

        const { tls } = await check(front.port);

        expect({ fails, refusal: tls?.chromiumRefusal }).toEqual({ fails, refusal: undefined });
        expect(tls?.cipher).toBe('TLS_DHE_RSA_WITH_AES_128_GCM_SHA256');
      }
    }
  });

  it.each([
    ['HTTP/2 with a cipher suite that it prohibits', 'AES128-GCM-SHA256', 'ERR_HTTP2_INADEQUATE_TRANSPORT_SECURITY'],
    ['HTTP/2 with another one', 'ECDHE-RSA-AES128-GCM-SHA256', '200'],
  ])('%s is refused by Chromium, or not', async (_reason, ciphers, seen) => {
    const server = createSecureServer({ ...rsa, ciphers, maxVersion: 'TLSv1.2' }, (_request, response) =>
      response.end('ok'),
    );
    await using listening = await listen(server);

    const outcome = await check(listening.port);

    expect(outcome).toMatchObject({ result: 'success', httpVersion: '2' });
    if (seen === '200') expect(outcome.tls).not.toHaveProperty('chromiumRefusal');
    else expect(outcome.tls?.chromiumRefusal).toContain('which HTTP/2 prohibits (RFC 9113 section 9.2.2)');
    if (chromium !== undefined) expect(await chromium.visit({ host: HOST, port: listening.port })).toBe(seen);
  });
});

function check(port: number): ReturnType<typeof checkOf> {
  return checkOf(`https://${HOST}:${port}/`, {}, { hosts: { [HOST]: ['127.0.0.1'] }, trust });
}

async function serve(
  certificate: Issued,
  args: readonly string[],
  chain: readonly Issued[] = [],
): Promise<OpensslServer & AsyncDisposable> {
  const server = await startOpensslServer({ certificate, chain, args: ['-www', ...args] });
  return { ...server, [Symbol.asyncDispose]: server.close };
}

async function listen(server: Server): Promise<{ readonly port: number } & AsyncDisposable> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => void server.close();
  return { port: (server.address() as AddressInfo).port, [Symbol.asyncDispose]: close };
}

/** A server that passes each connection on after its first bytes, or answers with these bytes and closes it. */
async function startFront(
  choose: (hello: Buffer) => Socket | Buffer,
): Promise<
  { readonly port: number; readonly connections: () => number; readonly sent: () => number } & AsyncDisposable
> {
  let connections = 0;
  let sent = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined);
    socket.once('data', (hello: Buffer) => {
      const onward = choose(hello);
      if (Buffer.isBuffer(onward)) {
        socket.end(onward);
        return;
      }
      onward.on('error', () => undefined);
      onward.write(hello);
      onward.on('data', (chunk: Buffer) => {
        sent += chunk.length;
      });
      socket.pipe(onward).pipe(socket);
    });
  });
  return { ...(await listen(server)), connections: () => connections, sent: () => sent };
}

/** A fatal alert of TLS. */
function alert(description: number): Buffer {
  return Buffer.from([21, 3, 3, 0, 2, 2, description]);
}

/** True if the list of signatures in a ClientHello may have `ed25519`. */
function offersEd25519(hello: Buffer): boolean {
  return hello.includes(Buffer.from([0x08, 0x07, 0x08, 0x08]));
}
