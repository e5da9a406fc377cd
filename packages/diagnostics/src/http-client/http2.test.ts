import { createSecureServer, createServer, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import {
  certificateMint,
  opensslVersion,
  type CertificateMint,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import { checkOf, problemsOf } from '../../test/http.ts';
import { servers } from '@vantage/test-support/loopback';
import { socketsRead } from '../../test/sockets-read.ts';

const { start, startRaw, closeAll } = servers();
const openssl = opensslVersion();
if (openssl === null && process.env['CI'] !== undefined) throw new Error('In CI these tests need openssl.');
const describeWithOpenssl = openssl === null ? describe.skip : describe;

afterEach(closeAll);

describeWithOpenssl('HTTP/2 by ALPN (skipped without the openssl command)', () => {
  let mint: CertificateMint;
  let issued: Issued;

  beforeAll(() => {
    mint = certificateMint();
    issued = mint.issue({ subject: '/CN=good.test', names: ['DNS:good.test'], ca: true });
  });
  afterAll(() => mint?.close());

  function context() {
    return { hosts: { 'good.test': ['127.0.0.1'] }, certificateAuthorities: [issued.cert] };
  }

  it('is spoken where the server chooses it', async () => {
    const port = await serve((stream, headers) => {
      const seen = [headers[':path'], headers[':authority'], headers['x-own']];
      stream.respond({ ':status': 200, 'x-path': seen.join(' ') });
      stream.end('hello');
    });

    const options = { headers: { 'X-Own': 'mine' } };
    const outcome = await checkOf(`https://good.test:${port}/a?b`, { options }, context());

    expect(outcome).toMatchObject({
      result: 'success',
      statusCode: 200,
      statusText: null,
      httpVersion: '2',
      bodyBytes: 5,
      tls: { alpn: 'h2', authorized: true },
    });
    expect(outcome.headers?.[0]).toEqual(['x-path', `/a?b good.test:${port} mine`]);
    const { dns, connect, tls, firstByte, download, total } = outcome.timings as Required<
      NonNullable<typeof outcome.timings>
    >;
    expect(total).toBeCloseTo(dns + connect + tls + firstByte + download, 6);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('measures each step of its redirects separately, over a separate connection', async () => {
    const connections: unknown[] = [];
    const server = createSecureServer({ cert: issued.cert, key: issued.key });
    server.on('secureConnection', (socket) => connections.push(socket));
    server.on('stream', (stream, { ':path': path }) => {
      if (path === '/there') stream.respond({ ':status': 200 }, { endStream: true });
      else stream.respond({ ':status': 302, location: '/there' }, { endStream: true });
    });
    const port = await start(server);

    const outcome = await checkOf(`https://good.test:${port}/`, { options: { followRedirects: 3 } }, context());

    const phases = ['connect', 'dns', 'download', 'firstByte', 'tls', 'total'];
    expect(outcome).toMatchObject({ result: 'success', statusCode: 200, url: `https://good.test:${port}/there` });
    expect(outcome.redirects).toMatchObject([{ statusCode: 302, httpVersion: '2', resolvedIp: '127.0.0.1' }]);
    const timings = outcome.redirects![0]!.timings;
    expect(Object.keys(timings).toSorted()).toEqual(phases);
    expect(Object.keys(outcome.timings!).toSorted()).toEqual(phases);
    expect(timings.firstByte).toBeGreaterThan(0);
    expect(connections).toHaveLength(2);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each([
    ['auto', '2', 'h2'],
    ['2', '2', 'h2'],
    ['1.1', '1.1', 'http/1.1'],
  ] as const)('is what a check for version %s gets as %s', async (httpVersion, version, alpn) => {
    const server = createSecureServer(
      { cert: issued.cert, key: issued.key, allowHTTP1: true },
      (_request, response) => {
        response.end('x');
      },
    );
    const port = await start(server);

    const outcome = await checkOf(`https://good.test:${port}/`, { options: { httpVersion } }, context());

    expect(outcome).toMatchObject({ result: 'success', httpVersion: version, tls: { alpn } });
  });

  it.each(['2', '1.1'] as const)(
    'reads a large head, and a body far beyond its cap to the cap: %s',
    async (httpVersion) => {
      const server = createSecureServer(
        { cert: issued.cert, key: issued.key, allowHTTP1: true },
        (_request, response) => {
          response.setHeader('x-large', 'a'.repeat(40_000));
          response.end('b'.repeat(1_000_000));
        },
      );
      const port = await start(server);

      const outcome = await checkOf(`https://good.test:${port}/`, { options: { httpVersion } }, context());

      // The check reads exactly to the cap, although TLS may have received more.
      expect(outcome).toMatchObject({ result: 'success', statusCode: 200, bodyBytes: 65_536, truncated: true });
    },
  );

  it('is missed where only it was asked for', async () => {
    const port = await start(createTlsServer({ cert: issued.cert, key: issued.key }, (socket) => socket.resume()));

    const outcome = await checkOf(`https://good.test:${port}/`, { options: { httpVersion: '2' } }, context());

    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'protocol_unreachable', phase: 'tls' } });
    expect(outcome.tls).toMatchObject({ authorized: true, alpn: null });
  });

  it.each<[string, string, number | undefined, (stream: ServerHttp2Stream) => void]>([
    ['http_status', 'a status of 500', 500, (stream) => stream.respond({ ':status': 500 }, { endStream: true })],
    [
      'http_headers_too_large',
      'a head of 300 kB',
      undefined,
      (stream) => stream.respond({ ':status': 200, 'x-big': 'a'.repeat(300_000) }),
    ],
    [
      'http_headers_too_large',
      'a head of 600 kB',
      undefined,
      (stream) => stream.respond({ ':status': 200, 'x-big': 'a'.repeat(600_000) }),
    ],
    [
      'http_too_many_interim',
      'seventeen early hints',
      undefined,
      (stream) => {
        for (let count = 0; count < 17; count += 1) stream.additionalHeaders({ ':status': 103, link: 'x' });
      },
    ],
    ['http2_ended', 'a refused stream', undefined, (stream) => stream.close(7)],
    ['http2_ended', 'an internal error', undefined, (stream) => stream.close(2)],
    ['http2_ended', 'a connection ended with GOAWAY', undefined, (stream) => stream.session?.destroy()],
  ])('ends the check with %s after %s', async (code, _reason, status, answer) => {
    const port = await serve(answer);

    const outcome = await checkOf(`https://good.test:${port}/`, {}, context());

    expect(outcome).toMatchObject({
      result: 'failure',
      error: { code, source: 'target' },
      tls: { alpn: 'h2' },
    });
    expect(outcome.statusCode).toBe(status);
    expect(outcome.timings?.tls).toBeGreaterThan(0);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('is given up for HTTP/1.1 where the server requires that and the caller left the choice', async () => {
    const asked: string[] = [];
    const server = createSecureServer({ cert: issued.cert, key: issued.key, allowHTTP1: true }, (request, response) => {
      asked.push(request.httpVersion);
      if (request.httpVersion === '1.1') response.end('x');
      else response.stream.close(13);
    });
    const port = await start(server);

    const outcome = await checkOf(`https://good.test:${port}/`, {}, context());

    expect(asked).toEqual(['2.0', '1.1']);
    expect(outcome).toMatchObject({
      result: 'success',
      statusCode: 200,
      httpVersion: '1.1',
      http2Error: { frame: 'RST_STREAM', code: 13, name: 'HTTP_1_1_REQUIRED', debug: null },
      tls: { alpn: 'http/1.1' },
    });
    const { dns, retries, connect, tls, firstByte, download, total } = outcome.timings as Required<
      NonNullable<typeof outcome.timings>
    >;
    expect(retries).toBeGreaterThan(0);
    expect(total).toBeCloseTo(dns + retries + connect + tls + firstByte + download, 6);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each(['auto', '2'] as const)('is tried once alone where version %s is required in vain', async (httpVersion) => {
    let requests = 0;
    const port = await serve((stream) => {
      requests += 1;
      stream.close(13);
    });

    const outcome = await checkOf(`https://good.test:${port}/`, { options: { httpVersion } }, context());

    expect(requests).toBe(1);
    expect(outcome).toMatchObject({ result: 'failure', http2Error: { name: 'HTTP_1_1_REQUIRED' } });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('is spoken once more, over a new connection to the same address, where the server refused the stream', async () => {
    const connections: unknown[] = [];
    const server = createSecureServer({ cert: issued.cert, key: issued.key });
    server.on('secureConnection', (socket) => connections.push(socket));
    server.on('stream', (stream) => {
      stream.on('error', () => undefined);
      if (connections.length === 1) stream.close(7);
      else stream.respond({ ':status': 200 }, { endStream: true });
    });
    const port = await start(server);

    const outcome = await checkOf(`https://good.test:${port}/`, {}, context());

    expect(connections).toHaveLength(2);
    expect(outcome).toMatchObject({
      result: 'success',
      statusCode: 200,
      httpVersion: '2',
      resolvedIp: '127.0.0.1',
      http2Error: { frame: 'RST_STREAM', code: 7, name: 'REFUSED_STREAM', debug: null },
    });
    expect(outcome.timings?.retries).toBeGreaterThan(0);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('ends the check with connection_reset after a reset of the connection', async () => {
    const connections: Socket[] = [];
    const server = createSecureServer({ cert: issued.cert, key: issued.key });
    server.on('connection', (socket: Socket) => connections.push(socket));
    server.on('stream', (stream) => {
      stream.on('error', () => undefined);
      connections[0]?.resetAndDestroy();
    });
    server.on('session', (session) => session.on('error', () => undefined));
    const port = await start(server);

    const outcome = await checkOf(`https://good.test:${port}/`, {}, context());

    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'connection_reset', phase: 'request' } });
  });

  it.each([
    ['64 KiB', {}, 65_536],
    ['one mebibyte where that is asked for', { maxBodyBytes: 1024 * 1024 }, 1024 * 1024],
    ['one mebibyte, behind no redirect', { maxBodyBytes: 1024 * 1024, followRedirects: 3 }, 1024 * 1024],
  ])('is read to %s where its body has no end, and no more is sent', async (_bound, options, bodyBytes) => {
    let sent = 0;
    const port = await serve((stream) => {
      stream.respond({ ':status': 200 });
      const pour = (): void => {
        while (!stream.destroyed && stream.write('a'.repeat(4_096), () => (sent += 4_096)));
      };
      stream.on('drain', pour);
      stream.on('error', () => undefined);
      pour();
    });

    const outcome = await checkOf(`https://good.test:${port}/`, { options }, context());

    expect(outcome).toMatchObject({ result: 'success', bodyBytes, truncated: true });
    // `sent` includes data that the stream's flow-control window still allowed, and data that the server has buffered.
    expect(sent).toBeLessThanOrEqual(bodyBytes + 65_536);
  });

  it('ends at the deadline where nothing comes', async () => {
    const deadline = new AbortController();
    const port = await serve(() => deadline.abort());

    const outcome = await checkOf(`https://good.test:${port}/`, {}, { ...context(), signal: deadline.signal });

    expect(outcome).toMatchObject({ result: 'timeout', error: { code: 'timed_out', phase: 'request' }, rt: null });
    expect(outcome.sslSubject).toBe('good.test');
  });

  function serve(answer: (stream: ServerHttp2Stream, headers: Readonly<Record<string, unknown>>) => void) {
    const server = createSecureServer({ cert: issued.cert, key: issued.key, maxSendHeaderBlockLength: 1_000_000 });
    server.on('session', (session) => session.on('error', () => undefined));
    server.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      answer(stream, headers);
    });
    return start(server);
  }
});

describe('HTTP/2 with prior knowledge', () => {
  it('is spoken to an http URL where version 2 was asked for', async () => {
    const port = await start(createServer((_request, response) => response.end('x')));

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, { options: { httpVersion: '2' } });

    expect(outcome).toMatchObject({ result: 'success', statusCode: 200, httpVersion: '2', bodyBytes: 1 });
  });

  it('has the error of a connection that ends with another GOAWAY, as of a server that closes in order', async () => {
    const [failing, closing] = ['\u0002', '\0'].map((code) => frame(7, 0, 0, `\0\0\0\u0001\0\0\0${code}`));
    const port = await startRaw((socket: Socket) => {
      socket.once('data', () => socket.resume().end(Buffer.from(`${settings}${failing}${closing}`, 'latin1')));
    });

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, { options: { httpVersion: '2' } });

    expect(outcome).toMatchObject({ error: { code: 'http2_ended' }, http2Error: { name: 'INTERNAL_ERROR' } });
  });

  it.each<[string, string, string, object]>([
    [
      'a stream reset before the head',
      frame(3, 0, 1, '\0\0\0\u000b'),
      'http2_ended',
      { frame: 'RST_STREAM', code: 11, name: 'ENHANCE_YOUR_CALM', debug: null },
    ],
    [
      'a stream refused by its grammar',
      frame(3, 0, 1, '\0\0\0\u0001'),
      'http2_ended',
      { frame: 'RST_STREAM', code: 1, name: 'PROTOCOL_ERROR', debug: null },
    ],
    [
      'a code without a name',
      frame(3, 0, 1, '\0\0\u00ff\u0001'),
      'http2_ended',
      { frame: 'RST_STREAM', code: 0xff01, name: '0xff01', debug: null },
    ],
    [
      'a connection ended with a word',
      frame(7, 0, 0, '\0\0\0\0\0\0\0\u000benough'),
      'http2_ended',
      { frame: 'GOAWAY', code: 11, name: 'ENHANCE_YOUR_CALM', debug: 'enough' },
    ],
    [
      'a stream that ends without END_STREAM',
      frame(1, 4, 1, '\u0088') + frame(0, 0, 1, 'abc') + frame(3, 0, 1, '\0\0\0\0'),
      'http2_ended',
      { frame: 'RST_STREAM', code: 0, name: 'NO_ERROR', debug: null },
    ],
  ])('has the error of the peer as the peer gave it: %s', async (_reason, bytes, code, http2Error) => {
    const port = await startRaw((socket: Socket) => {
      socket.once('data', () => socket.resume().write(Buffer.from(settings + bytes, 'latin1')));
    });

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, { options: { httpVersion: '2' } });

    expect(outcome).toMatchObject({ result: 'failure', http2Error, error: { code, source: 'target' } });
    expect(outcome.error?.message).toContain((http2Error as { name: string }).name);
    if (bytes.includes('abc')) expect(outcome).toMatchObject({ statusCode: 200, bodyBytes: 3, truncated: true });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each<[string, number, string]>([
    ['a stream refused before any answer', 2, frame(3, 0, 1, '\0\0\0\u0007')],
    ['a connection ended before the request', 2, frame(7, 0, 0, '\0\0\0\0\0\0\0\0')],
    ['a connection ended for an error', 1, frame(7, 0, 0, '\0\0\0\0\0\0\0\u000b')],
    ['a stream refused after its head', 1, frame(1, 4, 1, '\u0088') + frame(3, 0, 1, '\0\0\0\u0007')],
    ['a stream ended for an internal error', 1, frame(3, 0, 1, '\0\0\0\u0002')],
  ])('asks again only what was not taken up, and only once: %s', async (_reason, requests, bytes) => {
    let connections = 0;
    const port = await startRaw((socket: Socket) => {
      connections += 1;
      socket.once('data', () => socket.resume().write(Buffer.from(settings + bytes, 'latin1')));
    });

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, { options: { httpVersion: '2' } });

    expect(connections).toBe(requests);
    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'http2_ended', source: 'target' } });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('ignores a flag that has no meaning for the type of a frame (RFC 9113 section 4.1)', async () => {
    const PADDED = 8;
    const bytes = frame(4, PADDED, 0, '') + frame(6, PADDED, 0, '\u00ff'.repeat(8)) + frame(1, 5, 1, '\u0088');
    const port = await startRaw((socket: Socket) => {
      socket.once('data', () => socket.resume().write(Buffer.from(bytes, 'latin1')));
    });

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, { options: { httpVersion: '2' } });

    expect(outcome).toMatchObject({ result: 'success', statusCode: 200 });
  });

  it('reads every byte that a server of another maker compresses', async () => {
    const bytes = Array.from({ length: 256 }, (_, at) => at).filter((at) => isShown(at));
    const value = Buffer.from([...bytes.filter((at) => at !== 32), ...bytes, 33]).toString('latin1');
    const server = createServer({ strictFieldWhitespaceValidation: false });
    // The name and every second field recur, so that the server refers to entries of the dynamic table; the other
    // fields fill the table more than once, so that these entries are evicted and added again.
    const repeated = Array.from({ length: 45 }, (_, at) => ['again', `${at}-${'n'.repeat(90)}`]).flat();
    server.on('stream', (stream) => {
      stream.respond({ ':status': 200, 'x-all': value, 'x-again': repeated, 'x-digits': '0123456789'.repeat(30) });
      stream.end('x');
    });
    const port = await start(server);

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, { options: { httpVersion: '2' } });

    expect(outcome).toMatchObject({ result: 'success', bodyBytes: 1 });
    const valuesOf = (wanted: string) => outcome.headers?.flatMap(([name, text]) => (name === wanted ? [text] : []));
    expect(valuesOf('x-all')).toEqual([value]);
    expect(valuesOf('x-again')).toEqual(repeated);
    expect(outcome.headerCount).toBe(93);
  });

  it('gets a body of one mebibyte without waiting for the flow control of the probe', async () => {
    const port = await startRaw((socket: Socket) => {
      const received: Buffer[] = [];
      socket.on('data', (bytes: Buffer) => received.push(bytes));
      void socketsRead().then(() => {
        const allowed = windowOf(Buffer.concat(received));
        const pieces = Math.min(64, Math.floor(allowed / 16_384));
        const data = Array.from({ length: pieces }, () => frame(0, 0, 1, 'a'.repeat(16_384))).join('');
        socket.end(Buffer.from(settings + head + data + (pieces === 64 ? frame(0, 1, 1, '') : ''), 'latin1'));
      });
    });

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, {
      options: { httpVersion: '2', maxBodyBytes: 1024 * 1024 },
    });

    expect(outcome).toMatchObject({ result: 'success', bodyBytes: 1024 * 1024, truncated: false });
  });

  const settings = frame(4, 0, 0, '');
  // HPACK: 0x88 is `:status: 200`, 0x89 is 204 (RFC 7541 appendix A).
  const head = frame(1, 4, 1, '\u0088');

  it.each<[string, string, string, object]>([
    ['http_malformed', 'HTTP/1.1', 'HTTP/1.1 400 Bad Request\r\n\r\n', {}],
    ['http_malformed', 'a frame on a stream that is not there', settings + frame(0, 0, 7, 'abc'), {}],
    ['http_malformed', 'a head that HPACK cannot read', settings + frame(1, 4, 1, '\u00ff\u00ff\u00ff'), {}],
    [
      'http2_ended',
      'a reset of the stream in the body',
      settings + head + frame(0, 0, 1, 'abc') + frame(3, 0, 1, '\0\0\0\u0008'),
      { statusCode: 200, bodyBytes: 3, truncated: true },
    ],
    [
      'connection_closed',
      'an end in the body',
      settings + head + frame(0, 0, 1, 'abc'),
      { statusCode: 200, bodyBytes: 3, truncated: true },
    ],
    ['connection_closed', 'an end before the head', settings, {}],
  ])('ends the check with %s after %s', async (code, _reason, bytes, kept) => {
    const port = await startRaw((socket: Socket) => {
      socket.once('data', () => {
        socket.resume();
        socket.write(Buffer.from(bytes, 'latin1'));
        void socketsRead().then(() => socket.end());
      });
    });

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, { options: { httpVersion: '2' } });

    expect(outcome).toMatchObject({ result: 'failure', error: { code, source: 'target' }, ...kept });
    expect(problemsOf(outcome)).toEqual([]);
  });
});

/** True if results contain the byte unescaped: it is neither a control character nor a soft hyphen. */
function isShown(byte: number): boolean {
  return byte > 31 && (byte < 127 || byte > 159) && byte !== 173;
}

/** Bytes that a server may send on the first stream after what a client has sent (RFC 9113 sections 6.5.2 and 6.9). */
function windowOf(sent: Buffer): number {
  let [stream, connection] = [65_535, 65_535];
  for (let at = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'.length; at < sent.length;) {
    const [length, type, streamId] = [sent.readUIntBE(at, 3), sent[at + 3], sent.readUInt32BE(at + 5)];
    const payload = sent.subarray(at + 9, at + 9 + length);
    if (type === 4) {
      for (let row = 0; row < length; row += 6)
        if (payload.readUInt16BE(row) === 4) stream = payload.readUInt32BE(row + 2);
    }
    if (type === 8 && streamId === 0) connection += payload.readUInt32BE(0);
    if (type === 8 && streamId === 1) stream += payload.readUInt32BE(0);
    at += 9 + length;
  }
  return Math.min(stream, connection);
}

/** One frame (RFC 9113 section 4.1), one character per byte. */
function frame(type: number, flags: number, stream: number, payload: string): string {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return header.toString('latin1') + payload;
}
