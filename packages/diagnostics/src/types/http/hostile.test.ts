import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { brotliCompressSync, zstdCompressSync } from 'node:zlib';

import { afterEach, describe, expect, it } from '@jest/globals';

import { checkOf, problemsOf } from '../../../test/http.ts';
import { servers } from '@vantage/test-support/loopback';
import { sendHttp2 } from '../../http-client/http2.ts';
import { receiveResponse } from '../../http-client/read-response.ts';

const { startRaw, closeAll } = servers();

afterEach(closeAll);

const OK = 'HTTP/1.1 200 OK\r\n';
const MEBIBYTE = 1024 * 1024;
/** Limit of additional memory, for a check and the server in one process. */
const MEMORY_BYTES = 96 * MEBIBYTE;

describe('what comes without a head', () => {
  it('is read to 64 KiB and no piece further, however fast it comes', async () => {
    const request = {
      url: new URL('http://192.0.2.1/'),
      method: 'GET',
      headers: [],
      maxBodyBytes: 1,
      followsRedirects: false,
    } as const;
    const pings = Buffer.concat(
      Array.from({ length: 1_024 }, () => Buffer.from('0000080600000000000000000000000000', 'hex')),
    );
    const socket = new Duplex({ read: () => undefined, write: (_bytes, _encoding, done) => done() });
    let received = 0;
    const bounds = { bodyCapOf: () => 1, limitReceived: () => undefined };
    const answered = receiveResponse(
      (sink) => sendHttp2(socket as Socket, request, sink),
      () => received,
      bounds,
      new AbortController().signal,
      () => undefined,
    );

    // An empty SETTINGS frame comes first.
    socket.emit('data', Buffer.from('000000040000000000', 'hex'));
    // Everything is sent in one turn of the event loop, in which no timer runs.
    while (!socket.destroyed && received < 64 * MEBIBYTE) {
      received += pings.length;
      socket.emit('data', pings);
    }

    expect(received).toBeLessThanOrEqual(65_536 + pings.length);
    expect((await answered).failure?.message).toBe('The target sent 64 KiB and no head of an answer.');
  });
});

describe('a flood by HTTP/1.1', () => {
  it.each<[string, string, string, string]>([
    ['http_too_many_interim', 'of interim answers', '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
    ['http_headers_too_large', 'of headers', OK, 'X-Flood: abcdefgh\r\n'],
    ['http_headers_too_large', 'of one header', `${OK}X-Flood: `, 'abcdefgh'],
    ['http_malformed', 'of empty lines before the head', '', '\r\n'],
    ['http_malformed', 'of chunk extensions', `${OK}Transfer-Encoding: chunked\r\n\r\n1`, ';flood=abcdefgh'],
    ['http_headers_too_large', 'of trailers', `${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n`, 'X-Flood: abcdefgh\r\n'],
  ])('ends the check with %s: %s', async (code, _reason, first, more) => {
    const flood = await flooding(first, more);

    const { outcome, grownBytes } = await measured(() => checkOf(`http://127.0.0.1:${flood.port}/`));
    await flood.ended;

    expect(outcome).toMatchObject({ result: 'failure', error: { code, phase: 'response', source: 'target' } });
    expect(grownBytes).toBeLessThan(MEMORY_BYTES);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('of chunks of one byte ends at a bound on what comes in, not only on what it comes to', async () => {
    const flood = await flooding(`${OK}Transfer-Encoding: chunked\r\n\r\n`, `00000001;${'x'.repeat(80)}\r\na\r\n`);

    const { outcome, grownBytes } = await measured(() => checkOf(`http://127.0.0.1:${flood.port}/`));
    await flood.ended;

    expect(outcome).toMatchObject({ statusCode: 200, truncated: true });
    expect(outcome.bodyBytes).toBeGreaterThan(0);
    expect(outcome.bodyBytes).toBeLessThanOrEqual(MEBIBYTE);
    expect(grownBytes).toBeLessThan(MEMORY_BYTES);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('of interim answers, 969,000 of them in all, is not read on after the seventeenth', async () => {
    const interim = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000));
    const sent = { blocks: 0 };
    const ended = Promise.withResolvers<void>();
    const port = await answering((socket) => {
      const pour = (): void => {
        while (sent.blocks < 969 && !socket.destroyed) {
          sent.blocks += 1;
          if (!socket.write(interim)) return;
        }
      };
      socket.on('drain', pour).on('close', () => ended.resolve());
      pour();
    });

    const outcome = await checkOf(`http://127.0.0.1:${port}/`);
    await ended.promise;

    expect(outcome.error).toMatchObject({ code: 'http_too_many_interim' });
    // The server could send only as many blocks as the buffers of both sockets take.
    expect(sent.blocks).toBeLessThan(969);
  });
});

describe('a small answer that grows', () => {
  it.each<[string, string, Buffer]>([
    ['br', '100 MB in some hundred bytes', brotliCompressSync(Buffer.alloc(100_000_000))],
    ['zstd', '100 MB in some kilobytes', zstdCompressSync(Buffer.alloc(100_000_000))],
  ])('is %s of %s, and is unpacked to its bound', async (coding, _reason, body) => {
    const head = `${OK}Content-Encoding: ${coding}\r\nContent-Length: ${body.length}\r\n\r\n`;
    const port = await answering((socket) => socket.end(Buffer.concat([Buffer.from(head), body])));

    const { outcome, grownBytes } = await measured(() => checkOf(`http://127.0.0.1:${port}/`));

    expect(body.length).toBeLessThan(16_384);
    expect(outcome).toMatchObject({ result: 'success', bodyBytes: body.length, truncated: true });
    expect(grownBytes).toBeLessThan(MEMORY_BYTES);
  });

  it('may not ask for a window of more than 8 MiB', async () => {
    // RFC 8878 section 3.1.1: a valid frame of one empty block with a window of 2^27 bytes.
    const frame = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, (27 - 10) << 3, 0x01, 0, 0]);
    const head = `${OK}Content-Encoding: zstd\r\nContent-Length: ${frame.length}\r\n\r\n`;
    const port = await answering((socket) => socket.end(Buffer.concat([Buffer.from(head), frame])));

    const outcome = await checkOf(`http://127.0.0.1:${port}/`);

    expect(outcome).toMatchObject({ result: 'failure', statusCode: 200, error: { code: 'http_decode_failed' } });
  });

  it('is a hundred answers in one, of which the first counts', async () => {
    const one = `${OK}Content-Length: 2\r\n\r\nok`;
    const port = await answering((socket) => socket.end(one.repeat(100)));

    const outcome = await checkOf(`http://127.0.0.1:${port}/`);

    expect(outcome).toMatchObject({ result: 'success', statusCode: 200, bodyBytes: 2, truncated: false });
  });
});

describe('the headers of a hostile answer', () => {
  it('are pairs, so that none of their names is a property of an object', async () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '__proto__'];
    const lines = names.map((name, at) => `${name}: ${at}\r\n`).join('');
    const port = await answering((socket) => socket.end(`${OK}${lines}Content-Length: 0\r\n\r\n`));

    const outcome = await checkOf(`http://127.0.0.1:${port}/`);

    expect(outcome.headers?.slice(0, 5)).toEqual(names.map((name, at) => [name, String(at)]));
    expect(({} as Readonly<Record<string, unknown>>)['0']).toBeUndefined();
    expect(problemsOf(outcome)).toEqual([]);
  });
});

const SETTINGS = frame(4, 0, 0, Buffer.alloc(0));
// HPACK (RFC 7541 appendix A): `:status: 200`, then one literal header that enters the dynamic table.
const STATUS = Buffer.from([0x88]);
const LARGE = Buffer.concat([
  Buffer.from([0x40, 1]),
  Buffer.from('a'),
  hpackInteger(0x7f, 4_000),
  Buffer.alloc(4_000, 'b'),
]);

describe('a flood by HTTP/2', () => {
  it.each<[string, string, readonly Buffer[], Buffer]>([
    ['http_malformed', 'of PING', [], frame(6, 0, 0, Buffer.alloc(8))],
    ['http_malformed', 'of SETTINGS', [], frame(4, 0, 0, Buffer.from([0, 4, 0, 0, 255, 255]))],
    ['http_malformed', 'of acknowledgements of SETTINGS', [], frame(4, 1, 0, Buffer.alloc(0))],
    ['http_malformed', 'of WINDOW_UPDATE', [], frame(8, 0, 0, Buffer.from([0, 0, 0, 1]))],
    ['http_malformed', 'of PRIORITY', [], frame(2, 0, 1, Buffer.from([0, 0, 0, 0, 1]))],
    ['http_malformed', 'of frames of unknown types', [], frame(0xbb, 0, 0, Buffer.alloc(1_000))],
    ['http_malformed', 'of RST_STREAM for streams that are not there', [], frame(3, 0, 9, Buffer.from([0, 0, 0, 8]))],
    ['http_malformed', 'of PUSH_PROMISE', [], frame(5, 4, 1, Buffer.concat([Buffer.from([0, 0, 0, 2]), STATUS]))],
    ['http_malformed', 'of DATA before any head', [], frame(0, 0, 1, Buffer.alloc(0))],
    ['http_malformed', 'of CONTINUATION', [frame(1, 0, 1, STATUS)], frame(9, 0, 1, Buffer.from([0x00, 1, 97, 1, 98]))],
    ['http_malformed', 'of empty CONTINUATION', [frame(1, 0, 1, STATUS)], frame(9, 0, 1, Buffer.alloc(0))],
    ['http_too_many_interim', 'of interim answers', [], frame(1, 4, 1, Buffer.from([0x08, 3, 0x31, 0x30, 0x33]))],
  ])('ends the check with %s: %s', async (code, _reason, first, more) => {
    const flood = await flooding(Buffer.concat([SETTINGS, ...first]), more);

    const { outcome, grownBytes } = await measured(() => byHttp2(flood.port));
    await flood.ended;

    expect(outcome).toMatchObject({ result: 'failure', error: { code, source: 'target' } });
    expect(outcome.statusCode).toBeUndefined();
    expect(grownBytes).toBeLessThan(MEMORY_BYTES);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each<[string, Buffer]>([
    ['of empty DATA', frame(0, 0, 1, Buffer.alloc(0))],
    ['of DATA that is all padding', frame(0, 8, 1, Buffer.concat([Buffer.from([200]), Buffer.alloc(200)]))],
    ['of PING in the body', frame(6, 0, 0, Buffer.alloc(8))],
  ])('keeps the head that came before it: %s', async (_reason, more) => {
    const flood = await flooding(Buffer.concat([SETTINGS, frame(1, 4, 1, STATUS)]), more);

    const { outcome, grownBytes } = await measured(() => byHttp2(flood.port));
    await flood.ended;

    expect(outcome).toMatchObject({ statusCode: 200, httpVersion: '2', bodyBytes: 0, truncated: true });
    expect(grownBytes).toBeLessThan(MEMORY_BYTES);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('of one entry of the HPACK table, named again and again, ends at the bound of the head', async () => {
    // 0xbe is the index of the newest entry in the dynamic table: one byte expands to four thousand.
    const head = Buffer.concat([STATUS, LARGE, Buffer.alloc(12_000, 0xbe)]);
    const port = await answering((socket) => socket.write(Buffer.concat([SETTINGS, frame(1, 4, 1, head)])));

    const { outcome, grownBytes } = await measured(() => byHttp2(port));

    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'http_headers_too_large', source: 'target' } });
    expect(grownBytes).toBeLessThan(MEMORY_BYTES);
  });

  it('of GOAWAY with something to say ends the check', async () => {
    const goaway = frame(7, 0, 0, Buffer.concat([Buffer.alloc(8), Buffer.alloc(16_000, 'x')]));
    const flood = await flooding(SETTINGS, goaway);

    const { outcome, grownBytes } = await measured(() => byHttp2(flood.port));
    await flood.ended;

    expect(outcome).toMatchObject({ result: 'failure', error: { source: 'target' } });
    expect(grownBytes).toBeLessThan(MEMORY_BYTES);
  });
});

type Outcome = Awaited<ReturnType<typeof checkOf>>;

function byHttp2(port: number): Promise<Outcome> {
  return checkOf(`http://127.0.0.1:${port}/`, { options: { httpVersion: '2' } });
}

/** Runs a check and measures the highest memory growth of the process. */
async function measured(check: () => Promise<Outcome>): Promise<{ outcome: Outcome; grownBytes: number }> {
  const before = process.memoryUsage.rss();
  let most = before;
  const poll = (): void => {
    most = Math.max(most, process.memoryUsage.rss());
  };
  const timer = setInterval(poll, 10);
  const outcome = await check();
  clearInterval(timer);
  poll();
  return { outcome, grownBytes: most - before };
}

/** A server that sends without end, as fast as it is read, after a request. */
async function flooding(
  first: string | Buffer,
  more: string | Buffer,
): Promise<{ readonly port: number; readonly ended: Promise<void> }> {
  const ended = Promise.withResolvers<void>();
  const block = Buffer.concat(Array.from({ length: Math.ceil(65_536 / more.length) }, () => Buffer.from(more)));
  const port = await answering((socket) => {
    const pour = (): void => {
      while (!socket.destroyed && socket.write(block));
    };
    socket.on('drain', pour).on('close', () => ended.resolve());
    socket.write(first);
    pour();
  });
  return { port, ended: ended.promise };
}

/** A server that answers any request at once. */
function answering(answer: (socket: Socket) => void): Promise<number> {
  return startRaw((socket) => {
    socket.once('data', () => {
      socket.resume();
      answer(socket);
    });
  });
}

/** One frame (RFC 9113 section 4.1). */
function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

/** Encodes an integer of HPACK (RFC 7541 section 5.1). */
function hpackInteger(prefix: number, value: number): Buffer {
  if (value < prefix) return Buffer.from([value]);
  const bytes = [prefix];
  let rest = value - prefix;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}
