import { once } from 'node:events';
import { connect } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { CHECK_ID, post, startHttpBed, type HttpBed } from '../../test/http-bed.ts';

let bed: HttpBed;

beforeAll(async () => {
  bed = await startHttpBed();
});

afterAll(() => bed.close());

/** Writes bytes as they are and reads until the server closes. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(bed.server.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  socket.write(bytes, 'latin1');
  await once(socket, 'close');
  return answer;
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
}

const valid = { type: 'tcp', host: 'a.example', port: 443 };

describe('a hostile body', () => {
  it.each<[string, string, number]>([
    ['nothing', '', 400],
    ['half an object', '{"type":"tcp"', 400],
    ['no JSON', 'type=tcp', 400],
    ['JSON with a comment', '{}//', 400],
    ['a number', '1', 400],
    ['null', 'null', 400],
    ['sixteen thousand brackets', '['.repeat(8_000) + ']'.repeat(8_000), 400],
    ['a deep object', '{"a":'.repeat(2_000) + '1' + '}'.repeat(2_000), 400],
    ['a prototype', JSON.stringify(valid).replace('{', '{"__proto__":{"limit":1},'), 400],
    ['an escaped prototype', JSON.stringify(valid).replace('{', '{"\\u005f_proto__":{"limit":1},'), 400],
    ['a constructor in the options', JSON.stringify({ ...valid, options: { constructor: {} } }), 400],
    [
      'a prototype in a field that is ignored',
      '{"type":"tcp","host":"a.example","port":1,"recordType":{"__proto__":1}}',
      400,
    ],
    ['three thousand probes', JSON.stringify({ ...valid, probes: Array.from({ length: 3_000 }, () => 'a') }), 400],
    ['a body one byte too large', ' '.repeat(16 * 1024 - 1) + '{}', 413],
    ['a body of the largest size', JSON.stringify(valid).padEnd(16 * 1024), 202],
    ['a host of two thousand characters', JSON.stringify({ ...valid, host: 'a'.repeat(2_049) }), 400],
    ['a number too large for a port', JSON.stringify(valid).replace('443', '1e999'), 400],
    ['a fractional port', JSON.stringify(valid).replace('443', '443.5'), 400],
  ])('of %s is answered by a problem that names nothing unbounded', async (_reason, body, status) => {
    const answer = await bed.ask('/check', post(body));

    expect(answer.status).toBe(status);
    expect(answer.text.length).toBeLessThan(4_096);
  });

  it('is told where it is nested too deeply, and which name is not allowed', async () => {
    const deep = await bed.ask(
      '/check',
      post(JSON.stringify(valid).replace('{', `{"options":${'['.repeat(9)}${']'.repeat(9)},`)),
    );
    const named = await bed.ask('/check', post(JSON.stringify({ ...valid, options: { constructor: {} } })));

    expect([deep, named].map(({ json }) => (json as { detail: string }).detail)).toEqual([
      '/options/0/0/0/0/0/0/0: is nested too deeply',
      '/options/constructor: is a name that is not allowed',
    ]);
  });

  it('never reaches an object’s prototype', async () => {
    await bed.ask('/check', post('{"__proto__":{"polluted":true},"type":"tcp","host":"a.example","port":1}'));

    expect({}).not.toHaveProperty('polluted');
  });

  it('tells the name of an unknown field escaped and bounded', async () => {
    const { json } = await bed.ask('/check', post({ ...valid, [`<b>\u202e${'x'.repeat(5_000)}`]: 1 }));

    const [{ path, message }] = (json as { errors: [{ path: string; message: string }] }).errors;
    expect(path).toMatch(/^\/<b>\\u\{202e\}x+…$/);
    expect(path.length + message.length).toBeLessThan(300);
  });

  it.each([
    ['no type', undefined, 415],
    ['a form', 'application/x-www-form-urlencoded', 415],
    ['text', 'text/plain', 415],
    ['something like JSON', 'application/json5', 415],
    ['a vendor’s JSON', 'application/vnd.api+json', 415],
    ['another charset', 'application/json; charset=utf-16', 415],
    ['a charset that is none', 'application/json; charset=x', 415],
    ['UTF-8 in capitals', 'Application/JSON; Charset="UTF-8"', 202],
    ['two types in one', 'application/json, text/plain', 415],
  ])('sent as %s is answered %s → %d', async (_reason, contentType, status) => {
    const headers = contentType === undefined ? {} : { 'Content-Type': contentType };
    // A body of bytes: fetch gives it no type of its own.
    const body = new TextEncoder().encode(JSON.stringify(valid));

    expect((await bed.ask('/check', { method: 'POST', body, headers })).status).toBe(status);
  });

  it('with a content encoding is refused without being unpacked', async () => {
    expect((await bed.ask('/check', post(valid, { 'Content-Encoding': 'gzip' }))).status).toBe(415);
    expect((await bed.ask('/check', post(valid, { 'Content-Encoding': 'identity' }))).status).toBe(202);
  });

  it('that is not UTF-8 is no JSON', async () => {
    const body = Buffer.concat([Buffer.from('{"type":"'), Buffer.from([0xff, 0xc0]), Buffer.from('"}')]);

    const answer = await bed.ask('/check', { ...post(''), body });

    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ detail: 'The body is not valid UTF-8.' });
  });

  it('that says it is large is refused before it is sent, one that is larger than it says while it is', async () => {
    const head = 'POST /check HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n';

    expect(statusOf(await raw(`${head}Content-Length: 99999999\r\n\r\n`))).toBe(413);
    const chunk = `1000\r\n${' '.repeat(4096)}\r\n`;
    expect(statusOf(await raw(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}0\r\n\r\n`))).toBe(413);
  });

  it('with two lengths is not HTTP', async () => {
    const answer = await raw('POST /check HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}');

    expect(statusOf(answer)).toBe(400);
    expect(answer).toContain('/problems/invalid-http');
  });

  it('with a length and chunks at once is not HTTP', async () => {
    const smuggled = 'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';

    expect(statusOf(await raw(`POST /check HTTP/1.1\r\nHost: a\r\n${smuggled}`))).toBe(400);
  });
});

describe('a hostile request', () => {
  it.each<[string, string, number]>([
    ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\r\n\r\n', 400],
    ['a method that nobody knows', 'BREW /probes HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a method of other protocols', 'PROPFIND /probes HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 405],
    ['TRACE', 'TRACE /probes HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 405],
    ['a header of 9 KiB', `GET /probes HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(9 * 1024)}\r\n\r\n`, 431],
    ['a path of 9 KiB', `GET /${'x'.repeat(9 * 1024)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
    ['a control character in a header', 'GET /probes HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n', 400],
    ['an expectation', 'GET /probes HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nConnection: close\r\n\r\n', 200],
    ['an upgrade', 'GET /probes HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade, close\r\n\r\n', 200],
    ['another host', 'GET http://evil.example/probes HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 200],
    ['a path out of the tree', 'GET /docs/../../etc/passwd HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 404],
    [
      'an encoded path out of the tree',
      'GET /docs/%2e%2e%2fstyle.css HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
      404,
    ],
    ['a path that cannot be decoded', 'GET /check/%zz/results HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
    ['a path of a NUL', 'GET /check/%00/results HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 404],
    ['no host', 'GET /probes HTTP/1.0\r\n\r\n', 200],
  ])('with %s is answered %3$d', async (_reason, bytes, status) => {
    const answer = await raw(bytes);

    expect(statusOf(answer)).toBe(status);
    expect(answer).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/im);
    if (status >= 400) expect(answer).toMatch(/^content-type: application\/problem\+json\r$/im);
    expect(answer).not.toMatch(/evil\.example|node_modules|at .*\.ts/);
  });

  it('cannot forge lines of the log', async () => {
    await bed.ask('/x%0A%22%7D', {});

    const line = bed.log.find(({ path }) => String(path).startsWith('/x'));
    expect(line).toMatchObject({ path: '/x%0A%22%7D', status: 404, method: 'GET' });
  });

  it('cannot choose the address that it is counted by', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.1', Forwarded: 'for=203.0.113.2', 'X-Real-IP': '203.0.113.3' };

    expect((await bed.ask('/me', { headers })).json).toMatchObject({ ip: '127.0.0.1' });
  });

  it('is known by the id of its answer', async () => {
    const answers = await Promise.all([bed.ask(`/check/${CHECK_ID}/results`), bed.ask(`/check/${CHECK_ID}/results`)]);

    const ids = answers.map(({ headers }) => headers.get('X-Request-Id'));
    expect(new Set(ids).size).toBe(2);
    expect(answers.map(({ json }) => (json as { requestId: string }).requestId)).toEqual(ids);
    for (const requestId of ids) expect(bed.log).toContainEqual(expect.objectContaining({ requestId, status: 404 }));
  });
});
