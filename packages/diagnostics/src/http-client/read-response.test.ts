import type { Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { afterEach, describe, expect, it } from '@jest/globals';

import { closedPort } from '../../test/closed-port.ts';
import { checkOf, problemsOf } from '../../test/http.ts';
import { servers } from '@vantage/test-support/loopback';
import { socketsRead } from '../../test/sockets-read.ts';

const { startRaw, closeAll } = servers();

afterEach(closeAll);

const OK = 'HTTP/1.1 200 OK\r\n';
const MEBIBYTE = 1024 * 1024;
/**
 * Expected fields for a head of which nothing could be read, one that could be read up to a header, and a complete one.
 */
const NONE = { rt: null };
const PART = {
  rt: null,
  statusCode: 200,
  statusText: 'OK',
  headers: expect.arrayContaining([[expect.any(String), expect.any(String)]]),
};
const HEAD = { rt: expect.any(Number), statusCode: 200 };
/** Expected outcome of a compressed body that is cut off. */
const cut = { result: 'failure', truncated: true, error: { code: 'http_decode_failed' } };

describe('a hostile HTTP/1.1 answer', () => {
  it.each<[string, string, string | Buffer, object]>([
    ['http_malformed', 'no HTTP at all', '\u0000\u0001garbage\r\n\r\n', NONE],
    ['http_malformed', 'the greeting of another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', NONE],
    ['http_malformed', 'a body before any head', '<html>hello</html>', NONE],
    ['http_malformed', 'two lengths', `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`, HEAD],
    ['http_malformed', 'NUL in a header', `${OK}X-A: b\r\nX-Null: a\0b\r\n\r\n`, PART],
    ['http_malformed', 'a status below 100', 'HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n', NONE],
    ['http_malformed', 'a switch of protocols', 'HTTP/1.1 101 Go\r\nUpgrade: x\r\n\r\n', { ...HEAD, statusCode: 101 }],
    ['http_malformed', 'a switch without Upgrade', 'HTTP/1.1 101 Go\r\n\r\n', { ...HEAD, statusCode: 101 }],
    ['http_headers_too_large', 'one endless header', `${OK}X-A: b\r\nX: ${'a'.repeat(300_000)}\r\n\r\n`, PART],
    ['http_headers_too_large', 'endless headers', `${OK}${'X-Flood: abcdefgh\r\n'.repeat(20_000)}\r\n`, PART],
    ['http_headers_too_large', 'an endless reason', `HTTP/1.1 200 ${'a'.repeat(300_000)}\r\n\r\n`, NONE],
    ['http_too_many_interim', 'seventeen early hints', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(17), NONE],
    ['http_too_many_interim', 'interim answers without end', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(50_000), NONE],
    ['connection_closed', 'a head that breaks off', `${OK}X-A: b\r\nContent-Le`, PART],
    ['connection_closed', 'a status line that breaks off', 'HTTP/1.1 20', NONE],
    ['connection_closed', 'an end after an interim answer', 'HTTP/1.1 100 Continue\r\n\r\n', NONE],
  ])('ends the check with %s and keeps what came of the head: %s', async (code, _reason, bytes, kept) => {
    const port = await answering((socket) => socket.end(bytes));

    const outcome = await checkOf(`http://127.0.0.1:${port}/`);

    expect(outcome).toMatchObject({ result: 'failure', resolvedIp: '127.0.0.1', ...kept });
    expect(outcome.error).toMatchObject({ code, phase: 'response', source: 'target' });
    expect(outcome.timings).toMatchObject({ dns: 0, connect: expect.any(Number), firstByte: expect.any(Number) });
    expect('statusCode' in outcome).toBe('statusCode' in kept);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('may have sixteen interim answers before it', async () => {
    const interim = 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(16);
    const port = await answering((socket) => socket.end(`${interim}${OK}Content-Length: 2\r\n\r\nok`));

    const outcome = await checkOf(`http://127.0.0.1:${port}/`);

    expect(outcome).toMatchObject({ result: 'success', statusCode: 200, bodyBytes: 2 });
  });

  it.each<[string, string, (socket: Socket) => void]>([
    ['connection_closed', 'closed without a word', (socket) => socket.end()],
    ['connection_reset', 'reset', (socket) => socket.resetAndDestroy()],
  ])('ends the check with %s where the connection is %s', async (code, _reason, act) => {
    const port = await answering(act);

    const outcome = await checkOf(`http://127.0.0.1:${port}/`);

    expect(outcome).toMatchObject({ result: 'failure', rt: null });
    expect(outcome.error).toMatchObject({ code, phase: 'request', source: 'target' });
    expect(outcome.timings?.firstByte).toBeUndefined();
  });

  it.each([
    ['differ', '/a', '/b', [expect.objectContaining({ code: 'location_differs' })]],
    ['are the same', '/a', '/a', undefined],
  ])('names two Location headers that %s', async (_reason, first, second, deviations) => {
    const head = `HTTP/1.1 301 Moved\r\nLocation: ${first}\r\nlocation: ${second}\r\nContent-Length: 0\r\n\r\n`;
    const port = await answering((socket) => socket.end(head));

    const outcome = await checkOf(`http://127.0.0.1:${port}/`);

    expect(outcome).toMatchObject({ result: 'success', location: '/a' });
    expect(outcome.deviations).toEqual(deviations);
    expect(problemsOf(outcome)).toEqual([]);
  });

  it('of a redirect names differing Location headers, which browsers refuse, before other deviations', async () => {
    const others = 'X-A: b\nX-B : c\r\nno colon\r\nX-D: e\r\n f\r\n: g\r\n';
    const head = `HTTP/1.1 301 Moved\r\n${others}Location: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n`;
    const port = await answering((socket) => socket.end(head));

    const { redirects, deviations } = await checkOf(`http://127.0.0.1:${port}/`, { options: { followRedirects: 1 } });

    expect(deviations?.length).toBeGreaterThan(3);
    for (const listed of [deviations, redirects?.[0]?.deviations]) expect(listed?.[0]?.code).toBe('location_differs');
  });

  it.each<[string, string, string, (socket: Socket) => void]>([
    ['connection_closed', 'closed', `${OK}Content-Length: 100\r\n\r\nabc`, (socket) => socket.end()],
    ['connection_reset', 'reset', `${OK}Content-Length: 100\r\n\r\nabc`, (socket) => socket.resetAndDestroy()],
    [
      'http_malformed',
      'no chunk',
      `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`,
      (socket) => socket.end('zz\r\n'),
    ],
  ])('keeps its head where the body ends with %s: %s', async (code, _reason, start, act) => {
    const port = await answering((socket) => {
      socket.write(start);
      void socketsRead().then(() => act(socket));
    });

    const outcome = await checkOf(`http://127.0.0.1:${port}/`);

    expect(outcome).toMatchObject({ result: 'failure', statusCode: 200, bodyBytes: 3, truncated: true });
    expect(outcome.error).toMatchObject({ code, phase: 'response', source: 'target' });
    expect(outcome.rt).toBeGreaterThan(0);
    expect(outcome.timings?.download).toBeUndefined();
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each([
    // SHA-256 of the letter `a` repeated, from sha256sum.
    ['64 KiB', {}, 65_536, 'bf718b6f653bebc184e1479f1935b8da974d701b893afcf49e701f3e2f9f9c5a'],
    [
      'as much as is asked for',
      { maxBodyBytes: 5 },
      5,
      'ed968e840d10d2d313a870bc131a4e2c311d7ad09bdf32b3418147221f51a6e2',
    ],
    [
      'one mebibyte where that is asked for',
      { maxBodyBytes: MEBIBYTE },
      MEBIBYTE,
      '9bc1b2a288b26af7257a36277ae3816a7d4f16e89c1e7e77d0a5c48bad62b360',
    ],
  ])('is read to %s where its body has no end', async (_bound, options, bodyBytes, bodySha256) => {
    const ended = Promise.withResolvers<void>();
    const port = await answering((socket) => {
      socket.on('close', () => ended.resolve());
      socket.write(`${OK}\r\n`);
      const pour = (): void => {
        while (!socket.destroyed && socket.write('a'.repeat(65_536)));
      };
      socket.on('drain', pour);
      pour();
    });

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, { options });
    await ended.promise;

    expect(outcome).toMatchObject({ result: 'success', statusCode: 200, bodyBytes, bodySha256, truncated: true });
    expect(problemsOf(outcome)).toEqual([]);
  });

  it.each([
    ['its cap', 65_536, {}, false],
    ['one byte more', 65_537, {}, true],
    ['none, where none is read', 0, { maxBodyBytes: 0 }, false],
    ['one, where none is read', 1, { maxBodyBytes: 0 }, true],
  ])('is whole where it has no more than is read: it has %s', async (_reason, bytes, options, truncated) => {
    const port = await answering((socket) => socket.end(`${OK}Content-Length: ${bytes}\r\n\r\n${'a'.repeat(bytes)}`));

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, { options });

    expect(outcome).toMatchObject({ result: 'success', bodyBytes: truncated ? bytes - 1 : bytes, truncated });
  });

  it('of a redirect that is followed is read to 16 KiB and a byte, and of one that is not as any other', async () => {
    const asked: string[] = [];
    let askedBefore: readonly string[] = [];
    let isHeld = true;
    const body = 'a'.repeat(40_000);
    const port = await startRaw((socket) => {
      socket.once('data', (request) => {
        const path = request.toString().split(' ')[1]!;
        asked.push(path);
        const status = path === '/last' ? '200 X' : '302 X\r\nLocation: /last';
        const head = `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n\r\n`;
        if (path === '/last' || !isHeld) {
          socket.end(head + body);
          return;
        }
        // The server sends as much as is kept, then one byte, which shows that there is more, and nothing after it.
        socket.write(head + body.slice(0, 16 * 1024));
        void socketsRead().then(() => {
          askedBefore = [...asked];
          socket.write('a');
        });
      });
    });
    const run = async (followRedirects: number) =>
      checkOf(`http://127.0.0.1:${port}/first`, { options: { followRedirects } });

    expect(await run(1)).toMatchObject({ statusCode: 200, bodyBytes: 40_000, redirects: [{ statusCode: 302 }] });
    expect([askedBefore, asked]).toEqual([['/first'], ['/first', '/last']]);
    isHeld = false;
    expect(await run(0)).toMatchObject({ statusCode: 302, bodyBytes: 40_000, truncated: false });
  });

  it('is whole at exactly one mebibyte', async () => {
    const body = 'a'.repeat(MEBIBYTE);
    const port = await answering((socket) => socket.end(`${OK}Content-Length: ${MEBIBYTE}\r\n\r\n${body}`));

    const outcome = await checkOf(`http://127.0.0.1:${port}/`, { options: { maxBodyBytes: MEBIBYTE } });

    expect(outcome).toMatchObject({ result: 'success', bodyBytes: MEBIBYTE, truncated: false });
  });

  it.each([
    ['head', 'timed_out', 'response', 'network', `${OK}X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy`, { rt: null }],
    [
      'body',
      'http_body_unfinished',
      'response',
      'network',
      `${OK}\r\n`,
      { rt: expect.any(Number), statusCode: 200, truncated: true },
    ],
    ['whole answer', 'timed_out', 'request', 'network', '', { rt: null }],
  ])(
    'ends at the deadline with what was measured where its %s is slow',
    async (part, code, phase, source, text, kept) => {
      const deadline = new AbortController();
      const port = await answering((socket) => {
        void socketsRead().then(() => deadline.abort());
        const letters = part === 'body' ? [text] : text.split('');
        const timer = setInterval(() => socket.write(letters.shift() ?? (part === 'body' ? 'x' : '')), 20);
        socket.on('close', () => clearInterval(timer));
      });

      const outcome = await checkOf(`http://127.0.0.1:${port}/`, {}, { signal: deadline.signal });

      expect(outcome).toMatchObject({ result: 'timeout', resolvedIp: '127.0.0.1', ...kept });
      expect(outcome.error).toMatchObject({ code, phase, source });
      expect(outcome.timings?.total).toBeGreaterThan(outcome.timings?.connect ?? Infinity);
      expect(problemsOf(outcome)).toEqual([]);
    },
  );

  it('ends the check where the connection is refused', async () => {
    const { port, close } = await closedPort();

    const outcome = await checkOf(`http://127.0.0.1:${port}/`);
    await close();

    expect(outcome).toMatchObject({ result: 'failure', error: { code: 'connection_refused', phase: 'connect' } });
    expect(Object.keys(outcome.timings ?? {}).toSorted()).toEqual(['dns', 'total']);
  });

  it('keeps a hundred headers and eight kibibytes of them at most', async () => {
    const many = Array.from({ length: 150 }, (_, at) => `H${at}: v\r\n`).join('');
    const large = Array.from({ length: 15 }, (_, at) => `H${at}: ${'\\'.repeat(1000)}\r\n`).join('');
    let headers = many;
    const port = await answering((socket) => socket.end(`${OK}${headers}Content-Length: 0\r\n\r\n`));

    const first = await checkOf(`http://127.0.0.1:${port}/`);
    headers = large;
    const second = await checkOf(`http://127.0.0.1:${port}/`);

    expect(first.headers).toHaveLength(100);
    expect([first.headerCount, second.headerCount]).toEqual([151, 16]);
    expect(first.headers?.[99]).toEqual(['H99', 'v']);
    expect(JSON.stringify(second.headers).length).toBeLessThan(8 * 1024 + 200);
    expect(second.headers?.at(-1)?.[1]).toMatch(/…$/);
    expect(problemsOf(second)).toEqual([]);
  });

  it('has control characters of its headers escaped and UTF-8 read as such', async () => {
    const head = `${OK}X-Bidi: a\u202eb\r\nX-Latin: caf\u00e9\r\nX-Tab: a\tb\r\nContent-Length: 0\r\n\r\n`;
    const port = await answering((socket) => {
      socket.end(
        Buffer.concat([
          Buffer.from(head.split('X-Latin')[0]!),
          Buffer.from(`X-Latin${head.split('X-Latin')[1]}`, 'latin1'),
        ]),
      );
    });

    const outcome = await checkOf(`http://127.0.0.1:${port}/`);

    expect(outcome.headers?.slice(0, 3)).toEqual([
      ['X-Bidi', 'a\\u{202e}b'],
      ['X-Latin', 'café'],
      ['X-Tab', 'a\\u{9}b'],
    ]);
  });

  it.each<[string, string, Buffer, object]>([
    ['gzip', 'as it says', gzipSync('hello'), { result: 'success', truncated: false, error: null }],
    ['gzip', 'not at all', Buffer.from('hello'), { result: 'failure', error: { code: 'http_decode_failed' } }],
    [
      'gzip',
      'as it says, and bytes follow',
      Buffer.concat([gzipSync('hello'), Buffer.from('EXTRA')]),
      { result: 'success', truncated: false, deviations: [expect.objectContaining({ code: 'bytes_after_gzip' })] },
    ],
    [
      'gzip',
      'twice, as it says',
      Buffer.concat([gzipSync('hello'), gzipSync('hello')]),
      { result: 'success', truncated: false },
    ],
    [
      'gzip',
      'with a wrong checksum, and bytes follow',
      Buffer.concat([gzipSync('hello').subarray(0, -8), Buffer.alloc(8, 1), Buffer.from('EXTRA')]),
      { result: 'failure', error: { code: 'http_decode_failed' } },
    ],
    [
      'br',
      'not at all',
      Buffer.from('hello, a page of text'),
      { result: 'failure', truncated: false, error: { code: 'http_decode_failed' } },
    ],
    ['gzip', 'but breaks off', gzipSync('hello').subarray(0, 15), cut],
    ['gzip', 'but breaks off in its checksum', gzipSync('hello').subarray(0, -3), cut],
    ['deflate', 'but breaks off', deflateSync('hello').subarray(0, -4), cut],
    ['br', 'but breaks off', brotliCompressSync('hello').subarray(0, -1), cut],
    ['zstd', 'but breaks off', zstdCompressSync('hello').subarray(0, -1), cut],
    ['br', 'to 64 MiB', brotliCompressSync(Buffer.alloc(64 * MEBIBYTE)), { result: 'success', truncated: true }],
    ['unknown', 'in an unknown way', Buffer.from('hello'), { result: 'success', truncated: false }],
  ])('is decoded as far as its bounds where it is %s %s', async (coding, _reason, body, expected) => {
    const head = `${OK}Content-Encoding: ${coding}\r\nContent-Length: ${body.length}\r\n\r\n`;
    const port = await answering((socket) => socket.end(Buffer.concat([Buffer.from(head), body])));

    const outcome = await checkOf(`http://127.0.0.1:${port}/`);

    expect(outcome).toMatchObject({ statusCode: 200, bodyBytes: body.length, ...expected });
    expect(problemsOf(outcome)).toEqual([]);
  });
});

/** A server that answers any request at once. */
function answering(answer: (socket: Socket) => void): Promise<number> {
  return startRaw((socket) => {
    socket.once('data', () => {
      socket.resume();
      answer(socket);
    });
  });
}
