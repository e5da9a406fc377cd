import type { Server } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import {
  certificateMint,
  opensslVersion,
  type CertificateMint,
  type Issued,
} from '@vantage/test-support/certificate-mint';
import { startDnsOverHttps } from '@vantage/test-support/dns/server';
import { addressRecord, readQuery, respond } from '@vantage/test-support/dns/wire';
import { startServer } from '@vantage/test-support/loopback';
import { encodeHpack } from '../../../http-client/http2/hpack.ts';
import {
  flags,
  frameReader,
  frameTypes,
  uint32,
  writeFrame,
  type Http2Frame,
} from '../../../http-client/http2/frames.ts';
import { createTrustStore, type TrustStore } from '../../../tls/certificate/trust-store.ts';
import { queryHttps } from './https.ts';
import { prepareQuery, type QueryOutcome } from './query.ts';

const prepared = prepareQuery({
  name: 'www.example.com.',
  recordType: { code: 1, name: 'A' },
  recursionDesired: true,
  checkingDisabled: false,
  edns: { dnssecOk: false, nsid: false },
});
const answerTo = (query: Uint8Array): Buffer =>
  Buffer.from(respond(readQuery(query), { answers: [addressRecord('www.example.com', '192.0.2.1')] }));

/** The answer to the query of every test. */
const message = answerTo(prepared.withId(0));
const DNS_MESSAGE = ['content-type', 'application/dns-message'] as const;

type Field = readonly [name: string, value: string];
const head = (fields: readonly Field[], set = 0): Buffer =>
  writeFrame(frameTypes.headers, flags.endHeaders | set, 1, encodeHpack(fields));
const ok = head([[':status', '200'], DNS_MESSAGE]);
const data = (bytes: Uint8Array, set: number = flags.endStream): Buffer =>
  writeFrame(frameTypes.data, set, 1, Buffer.from(bytes));
const reset = (code: number): Buffer => writeFrame(frameTypes.rstStream, 0, 1, uint32(code));
const goaway = (lastStream: number, code: number): Buffer =>
  writeFrame(frameTypes.goaway, 0, 0, Buffer.concat([uint32(lastStream), uint32(code)]));
const whole = Buffer.concat([ok, data(message)]);

const describeWithOpenssl = opensslVersion() === null ? describe.skip : describe;
if (opensslVersion() === null && process.env['CI'] === 'true') throw new Error('CI needs openssl.');

describeWithOpenssl('DNS over HTTPS (skipped without the openssl command)', () => {
  let mint: CertificateMint;
  let identity: Issued;
  let trust: TrustStore;
  const servers: { readonly close: () => Promise<unknown> }[] = [];

  beforeAll(() => {
    mint = certificateMint();
    const authority = mint.issue({ subject: '/CN=Test authority', ca: true });
    identity = mint.issue({ subject: '/CN=Test resolver', names: ['IP:127.0.0.1'], issuer: authority });
    trust = createTrustStore([authority.cert]);
  });
  afterAll(() => mint.close());
  afterEach(async () => {
    await Promise.all(servers.splice(0).map(async (server) => server.close()));
  });

  async function ask(port: number, signal = AbortSignal.timeout(60_000)): Promise<QueryOutcome> {
    const address = '127.0.0.1';
    const target = { host: address, address, family: 4, addresses: [address], resolveMs: 0 } as const;
    return queryHttps({ target, port }, prepared, trust, 'Vantage/0', signal);
  }

  /** Starts a TLS server that passes each connection to `on`, numbered from 1. */
  async function serve(protocols: string[], on: (socket: TLSSocket, number: number) => void): Promise<number> {
    let connections = 0;
    const server: Server = createTlsServer({ ...identity, ALPNProtocols: protocols }, (socket) => {
      socket.on('error', () => undefined);
      on(socket, (connections += 1));
    });
    const started = await startServer(server);
    servers.push(started);
    return started.port;
  }

  /** Answers one request per connection with frames. */
  async function serveFrames(answer: (number: number) => Buffer, asked: Http2Frame[] = []): Promise<number> {
    return serve(['h2'], (socket, number) => {
      socket.write(writeFrame(frameTypes.settings, 0, 0, Buffer.alloc(0)));
      const read = frameReader((frame) => {
        asked.push(frame);
        if (frame.type === frameTypes.data) socket.write(answer(number));
        return true;
      });
      let preface = 24;
      socket.on('data', (bytes: Buffer) => {
        const rest = bytes.subarray(Math.min(preface, bytes.length));
        preface -= bytes.length - rest.length;
        read(rest);
      });
    });
  }

  async function serveText(answer: string | Buffer, ends = true): Promise<number> {
    return serve(['http/1.1'], (socket) => {
      socket.once('data', () => (ends ? socket.end(answer) : socket.write(answer)));
    });
  }

  it('sends the question as one message, and takes the answer', async () => {
    const asked: Http2Frame[] = [];
    const port = await serveFrames(() => whole, asked);

    const { answer, failure } = await ask(port);

    const sent = asked.find(({ type }) => type === frameTypes.data);
    expect(failure).toBeNull();
    expect(answer?.message.answers).toMatchObject([{ data: '192.0.2.1' }]);
    expect(sent).toMatchObject({ flags: flags.endStream, payload: Buffer.from(prepared.withId(0)) });
  });

  it.each<[string, Buffer, string, string]>([
    ['resets the stream', reset(1), 'http2_ended', 'The resolver ended the HTTP/2 stream with PROTOCOL_ERROR (1).'],
    [
      'ends the connection',
      goaway(0, 11),
      'http2_ended',
      'The resolver ended the HTTP/2 connection with ENHANCE_YOUR_CALM (11).',
    ],
    [
      'resets the stream after half of the message',
      Buffer.concat([ok, data(message.subarray(0, 20), 0), reset(0)]),
      'http2_ended',
      'NO_ERROR',
    ],
    ['answers 421', head([[':status', '421']], flags.endStream), 'http_status', 'HTTP status 421'],
    [
      'redirects',
      head(
        [
          [':status', '307'],
          ['location', '/dns'],
        ],
        flags.endStream,
      ),
      'http_status',
      'HTTP status 307',
    ],
    ['sends half of the message', Buffer.concat([ok, data(message.subarray(0, 20))]), 'dns_bad_response', ''],
    ['sends no message', Buffer.concat([ok, data(Buffer.alloc(0))]), 'dns_bad_response', 'no answer to the question'],
    [
      'compresses the answer',
      Buffer.concat([head([[':status', '200'], DNS_MESSAGE, ['content-encoding', 'gzip']]), data(message)]),
      'dns_bad_response',
      'compressed',
    ],
    [
      'sends more than a message',
      Buffer.concat([ok, ...Array.from({ length: 5 }, () => data(Buffer.alloc(16_384), 0))]),
      'dns_bad_response',
      'longer than a DNS message',
    ],
    [
      'sends another type of media',
      Buffer.concat([
        head([
          [':status', '200'],
          ['content-type', 'text/html'],
        ]),
        data(message),
      ]),
      'dns_bad_response',
      'does not hold a DNS message',
    ],
    ['has no HTTP/2', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), 'http_malformed', ''],
  ])('a resolver that %s is reported as that', async (_what, answer, code, words) => {
    const { failure } = await ask(await serveFrames(() => answer));

    expect(failure).toMatchObject({ code, source: 'resolver' });
    expect(failure?.message).toContain(words);
  });

  it.each<[string, Buffer]>([
    ['refuses the stream', reset(7)],
    ['ends the connection before the question', goaway(0, 0)],
  ])('a resolver that %s is asked once more', async (_what, refusal) => {
    const first = await ask(await serveFrames((number) => (number === 1 ? refusal : whole)));
    const never = await ask(await serveFrames(() => refusal));

    expect(first).toMatchObject({ failure: null, answer: { message: { answers: [{ data: '192.0.2.1' }] } } });
    expect(never.failure).toMatchObject({ code: 'http2_ended', source: 'resolver' });
  });

  it('a resolver that ends the connection after the question it answers is believed', async () => {
    const { answer } = await ask(await serveFrames(() => Buffer.concat([goaway(1, 0), whole])));

    expect(answer?.message.answers).toHaveLength(1);
  });

  it('a resolver that requires HTTP/1.1 is asked by that', async () => {
    const head11 = 'HTTP/1.1 200 OK\r\nContent-Type: application/dns-message\r\n';
    const port = await serve(['h2', 'http/1.1'], (socket) => {
      if (socket.alpnProtocol === 'h2') {
        socket.write(Buffer.concat([writeFrame(frameTypes.settings, 0, 0, Buffer.alloc(0)), reset(13)]));
      } else {
        const answer = `${head11}Content-Length: ${message.length}\r\n\r\n`;
        socket.once('data', () => socket.end(Buffer.concat([Buffer.from(answer), message])));
      }
    });

    expect(await ask(port)).toMatchObject({ failure: null, answer: { message: { answers: [{ data: '192.0.2.1' }] } } });
  });

  const http1 = (fields: string, body: Uint8Array): Buffer =>
    Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: application/dns-message\r\n${fields}\r\n`), body]);

  it.each<[string, () => Buffer]>([
    ['its length', () => http1(`Content-Length: ${message.length}\r\n`, message)],
    ['the end of the connection', () => http1('', message)],
    [
      'chunks',
      () =>
        http1(
          'Transfer-Encoding: chunked\r\n',
          Buffer.from(`${message.length.toString(16)}\r\n${message.toString('latin1')}\r\n0\r\n\r\n`, 'latin1'),
        ),
    ],
  ])('an answer by HTTP/1.1 is taken by %s', async (_what, answer) => {
    const { answer: taken } = await ask(await serveText(answer()));

    expect(taken?.message.answers).toHaveLength(1);
  });

  it('an answer by HTTP/1.1 that breaks off is a closed connection', async () => {
    const { failure } = await ask(await serveText(http1('Content-Length: 500\r\n', message)));

    expect(failure).toMatchObject({ code: 'connection_closed', source: 'resolver' });
  });

  it('silence after the question ends with the signal', async () => {
    const over = new AbortController();
    const port = await serveFrames(() => (over.abort(), Buffer.alloc(0)));

    expect((await ask(port, over.signal)).failure).toMatchObject({ code: 'timed_out' });
  });

  it('an answer whose message is as long as one can be is taken', async () => {
    const long = Buffer.concat([message, Buffer.alloc(65_535 - message.length)]);
    const frames = Array.from({ length: 4 }, (_, at) => {
      return data(long.subarray(at * 16_384, (at + 1) * 16_384), at === 3 ? flags.endStream : 0);
    });

    const { answer } = await ask(await serveFrames(() => Buffer.concat([ok, ...frames])));

    expect(answer?.bytes).toBe(65_535);
  });

  it('keeps what the server of Node, which is another reader of HTTP/2, makes of the request', async () => {
    const server = await startDnsOverHttps(identity, (query) => [respond(query, { answers: [] })]);
    servers.push(server);

    const { failure } = await ask(server.port);

    expect([failure, server.queries.length]).toEqual([null, 1]);
  });
});
