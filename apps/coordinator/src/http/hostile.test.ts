import { once } from 'node:events';
import { connect } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { post, startHttpBed, type HttpBed } from '../../test/http-bed.ts';
import { CHECK_ID } from '../../test/http-fakes.ts';

let bed: HttpBed;

beforeAll(async () => {
  bed = await startHttpBed();
});

afterAll(() => bed.close());

/** Writes raw bytes and reads until the server closes the connection. */
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

  it('gets the path of a value that is nested too deeply, and of a forbidden name', async () => {
    const deep = await bed.ask(
      '/check',
      post(JSON.stringify(valid).replace('{', `{"options":${'['.repeat(8)}${']'.repeat(8)},`)),
    );
    const named = await bed.ask('/check', post(JSON.stringify({ ...valid, options: { constructor: {} } })));

    expect([deep, named].map(({ json }) => (json as { detail: string }).detail)).toEqual([
      '/options/0/0/0/0/0/0/0: is nested too deeply',
      '/options/constructor: is a name that is not allowed',
    ]);
  });

  it.each<[string, string, string]>([
    ['a field', '"host":"b.example"', '/host'],
    ['a field, escaped', '"h\\u006fst":"b.example"', '/host'],
    ['an option', '"options":{"attempts":1,"family":4,"attempts":2}', '/options/attempts'],
    ['a field after an object', '"options":{"attempts":1},"port":80', '/port'],
    ['a field of the same value', '"port":443', '/port'],
    ['a name in a list', '"recordType":[0,["a","b"],{"a":1,"a":2}]', '/recordType/2/a'],
  ])('with %s given twice is refused: readers differ in which one counts', async (_reason, more, path) => {
    const { status, json } = await bed.ask('/check', post(JSON.stringify(valid).replace(/\}$/, `,${more}}`)));

    expect(status).toBe(400);
    expect(json).toMatchObject({ errors: [{ path, message: 'is given more than once' }] });
  });

  it('may have one name in several objects, and texts that look like JSON', async () => {
    const text = '{"port":1,"port":2}\\';
    const body = { ...valid, recordType: [{ host: 'a' }, { host: text }, text], options: { attempts: 1 } };

    expect((await bed.ask('/check', post(body))).status).toBe(202);
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
    ['JSON with other parameters', 'application/json; odata.metadata=minimal; profile="https://a.example/"', 202],
    ['another charset after other parameters', 'application/json; v=1; CHARSET="utf-16"', 415],
    ['JSON with a parameter without a value', 'application/json; utf-8', 415],
    ['two types, the second in a parameter', 'application/json; v=1, text/plain', 415],
    ['JSON with a semicolon in a quoted parameter', 'application/json; profile="a;b"; v="; charset=x"', 202],
    ['JSON with an escaped quote in a parameter', String.raw`application/json; profile="a\";charset=x;\\"`, 202],
    ['JSON with a parameter whose name begins with charset', 'application/json;charset-hint=x ; ;', 202],
    ['another charset after a quoted parameter', 'application/json; profile="a;b";charset=latin1', 415],
    ['two charsets', 'application/json; charset=utf-8; charset=latin1', 415],
    ['JSON with a quoted parameter without an end', 'application/json; profile="a', 415],
    ['two types in one', 'application/json, text/plain', 415],
  ])('sent as %s is answered %s → %d', async (_reason, contentType, status) => {
    const headers = contentType === undefined ? {} : { 'Content-Type': contentType };
    // A byte body, for which fetch adds no content type.
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
    ['an unknown method', 'BREW /probes HTTP/1.1\r\nHost: a\r\n\r\n', 400],
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
    // A page reads a refusal, too.
    expect(answer).toMatch(/^access-control-allow-origin: \*\r$/im);
    if (status >= 400) expect(answer).toMatch(/^content-type: application\/problem\+json\r$/im);
    expect(answer).not.toMatch(/evil\.example|node_modules|at .*\.ts/);
  });

  const closing = 'Connection: close\r\n\r\n';
  const json = 'POST /check HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n';
  const get = (target: string, more = ''): string => `GET ${target} HTTP/1.1\r\nHost: a\r\n${more}${closing}`;

  it.each<[string, string, number]>([
    ['chunks and a length', `${json}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n`, 400],
    ['a coding before the chunks', `${json}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, 400],
    ['a coding behind the chunks', `${json}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`, 400],
    ['a coding like chunked', `${json}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, 400],
    ['a tab before chunked', `${json}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`, 400],
    ['a space before the colon', `${json}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`, 400],
    ['chunked twice', `${json}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    ['chunks in HTTP/1.0', `${json.replace('1.1', '1.0')}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`, 400],
    ['the same length twice', `${json}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`, 400],
    ['a list of lengths', `${json}Content-Length: 2, 2\r\n\r\n{}`, 400],
    ['a negative length', `${json}Content-Length: -1\r\n\r\n{}`, 400],
    ['a length with a sign', `${json}Content-Length: +2\r\n\r\n{}`, 400],
    ['a hexadecimal length', `${json}Content-Length: 0x2\r\n\r\n{}`, 400],
    ['a length beyond all numbers', `${json}Content-Length: 99999999999999999999999\r\n\r\n{}`, 400],
    ['a chunk of no size', `${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`, 400],
    ['a chunk of a negative size', `${json}Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n`, 400],
    [
      'a chunk beyond all numbers',
      `${json}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n`,
      400,
    ],
    ['chunks that end lines with LF', `${json}Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n`, 400],
    ['a flood in a chunk', `${json}Transfer-Encoding: chunked\r\n\r\n2;${'x'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`, 400],
    [
      'a flood behind the chunks',
      `${json}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: ${'y'.repeat(9_000)}\r\n\r\n`,
      431,
    ],
    ['a folded header', `GET /probes HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n${closing}`, 400],
    ['lines that end with LF', 'GET /probes HTTP/1.1\nHost: a\nConnection: close\n\n', 400],
    ['a CR in a header', get('/probes', 'X: a\rY: b\r\n'), 400],
    ['a NUL in a header', get('/probes', 'X: a\0b\r\n'), 400],
    ['a space before the first header', `GET /probes HTTP/1.1\r\n Host: a\r\n${closing}`, 400],
    ['two hosts', get('/probes', 'Host: b\r\n'), 400],
    ['no host in HTTP/1.1', `GET /probes HTTP/1.1\r\n${closing}`, 400],
    ['sixteen hundred headers', get('/probes', 'A:b\r\n'.repeat(1_600)), 431],
    ['three hundred headers', get('/probes', 'A:b\r\n'.repeat(300)), 200],
    ['no version', 'GET /probes\r\n\r\n', 400],
    ['version 2', `GET /probes HTTP/2.0\r\nHost: a\r\n${closing}`, 400],
    ['version 9.9', `GET /probes HTTP/9.9\r\nHost: a\r\n${closing}`, 400],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['an upgrade to HTTP/2', get('/probes', 'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n'), 200],
    ['SSH', 'SSH-2.0-x\r\n\r\n', 400],
    ['the target *', get('*'), 400],
    ['a target without a slash', get('probes'), 400],
    ['a target of backslashes', get('\\\\evil.example\\probes'), 400],
    ['a target of two slashes', get('//elsewhere.example/probes'), 404],
    ['a fragment', get('/probes#x'), 400],
    ['a URL with credentials', get('http://u:p@evil.example/probes'), 200],
    ['a URL of no port', get('http://evil.example:99999/probes'), 400],
    ['a URL of half a host', get('http://['), 400],
    ['a URL without a host', get('http:///probes'), 400],
    ['a URL of another scheme', get('gopher://evil.example/'), 400],
    ['a raw byte in the path', get('/\xe9'), 400],
    ['a space in the path', get('/pro bes'), 400],
    ['a query of its own making', get('/probes?__proto__[x]=1&constructor=2&a[]=1'), 400],
    ['a wait of its own making', get(`/check/${CHECK_ID}/results?wait[]=1&wait[__proto__]=2`), 400],
    ['thousands of parameters', get(`/probes?${'a=b&'.repeat(1_800)}`), 400],
    ['a body where there is none', `GET /probes HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n${closing}hello`, 200],
    ['HEAD of nothing', `HEAD /nothing HTTP/1.1\r\nHost: a\r\n${closing}`, 404],
  ])('of %s is answered once, as HTTP has it: %3$d', async (_reason, bytes, status) => {
    const answer = await raw(bytes);

    expect([...answer.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, seen]) => Number(seen))).toEqual([status]);
    expect(answer).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/im);
    if (status >= 400) expect(answer).toMatch(/^content-type: application\/problem\+json\r$/im);
    expect(answer).not.toMatch(/<html|evil\.example|node_modules|at .*\.ts/i);
  });

  it('behind another on its connection is answered behind that one', async () => {
    const keep = (target: string): string => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const body = JSON.stringify(valid);
    const post = `${json.replace('Connection: close\r\n', '')}Content-Length: ${body.length}\r\n\r\n${body}`;

    const answer = await raw(`${keep('/healthz')}${post}${keep('/nothing')}${get('/me')}`);

    expect([...answer.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, seen]) => seen)).toEqual(['200', '202', '404', '200']);
  });

  it('cannot forge lines of the log', async () => {
    await bed.ask('/x%0A%22%7D', {});

    const line = bed.log.find(({ path }) => String(path).startsWith('/x'));
    expect(line).toMatchObject({ path: '/x%0A%22%7D', status: 404, method: 'GET' });
  });

  it('leaves no line in the log that has its address and the id of the check that it reads', async () => {
    const secret = 'Zx5dCEFciMRIZB3kfyVAN-';
    const paths = [`/check/${secret}`, `/check/${secret}/results`, `/check/${secret}/events?x=1`, `/c/${secret}`];

    const answers = await Promise.all(paths.map((path) => bed.ask(path)));

    const requestIds = new Set(answers.map(({ headers }) => headers.get('X-Request-Id')));
    const lines = bed.log.filter(({ requestId }) => requestIds.has(String(requestId)));
    expect(lines.map(({ path }) => String(path)).toSorted((a, b) => a.localeCompare(b))).toEqual([
      '/c/sha256:LwQfSJzWRy7N',
      '/check/sha256:LwQfSJzWRy7N',
      '/check/sha256:LwQfSJzWRy7N/events',
      '/check/sha256:LwQfSJzWRy7N/results',
    ]);
    expect(lines.every(({ client }) => client === '127.0.0.1')).toBe(true);
    expect(JSON.stringify(bed.log)).not.toContain(secret);
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

describe('a hostile X-Forwarded-For', () => {
  let behind: HttpBed;

  beforeAll(async () => {
    behind = await startHttpBed({ trustedProxies: 1 });
  });

  afterAll(() => behind.close());

  it.each<[string, string, number, string | null]>([
    ['an address', '203.0.113.1', 200, '203.0.113.1'],
    ['the last of many', `${'198.51.100.1, '.repeat(300)}203.0.113.2`, 200, '203.0.113.2'],
    ['IPv6', '2001:DB8::1', 200, '2001:db8::1'],
    ['IPv4 in IPv6', '::ffff:203.0.113.3', 200, '203.0.113.3'],
    ['a zone', 'fe80::1%eth0', 200, 'fe80::1'],
    ['nothing', '', 200, '127.0.0.1'],
    ['a name', 'localhost', 400, null],
    ['an unknown', 'unknown', 400, null],
    ['an address and a port', '203.0.113.1:80', 200, '203.0.113.1'],
    ['IPv6 and a port', '[2001:db8::1]:80', 200, '2001:db8::1'],
    ['an address and no port', '203.0.113.1:0', 400, null],
    ['brackets', '[2001:db8::1]', 400, null],
    ['octal', '0177.0.0.1', 400, null],
    ['a number', '2130706433', 400, null],
    ['markup', '<script>alert(1)</script>', 400, null],
    ['an end of line that is escaped', '203.0.113.1%0d%0aX: y', 400, null],
    ['a zone of IPv4', '203.0.113.1%eth0', 400, null],
    ['an empty item', '203.0.113.1,', 200, '203.0.113.1'],
  ])('of %s behind one proxy is read or refused', async (_reason, forwarded, status, ip) => {
    const answer = await behind.ask('/me', { headers: { 'X-Forwarded-For': forwarded } });

    expect(answer.status).toBe(status);
    if (ip !== null) expect(answer.json).toMatchObject({ ip });
    else expect(answer.json).toMatchObject({ type: expect.stringMatching(/invalid-http$/) });
    expect(answer.text).not.toContain('<script>');
  });
});
