import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';

import type { Admit } from '@vantage/contract';
import { afterEach, describe, expect, it } from '@jest/globals';

import { admitSite } from '@vantage/test-support/browser/site';
import { askCurl, curlVersion, servingRaw } from '../../../test/http-corpus-readers.ts';
import { corpusVerdicts } from '../../../test/http-corpus-verdicts.ts';
import { rawAnswers } from '../../../test/http-corpus.ts';
import { servers } from '@vantage/test-support/loopback';
import { itNeeding } from '@vantage/test-support/needs';
import { startProxy, type FilteringProxy, type OwnPages } from './proxy.ts';
import { defaultProxyLimits, type ProxyLimits } from './proxy-ledger.ts';

const itWithCurl = itNeeding((await curlVersion()) === null ? 'there is no curl' : null, process.env['CI']);
/** Answers that the check reads to their end, and for which curl has enough memory (exit code 27 if not). */
const readable = rawAnswers.filter(({ name }) => {
  const { check, curl } = corpusVerdicts[name]!;
  return /^\d+ \d+$/.test(check) && curl !== 'exit 27';
});

const { start, startRaw, closeAll } = servers();
const proxies: FilteringProxy[] = [];

afterEach(async () => {
  await Promise.all([closeAll(), ...proxies.splice(0).map((proxy) => proxy.close())]);
});

async function proxyTo(
  admit: Admit,
  limits: Partial<ProxyLimits> = {},
  pages: OwnPages = new Map(),
): Promise<FilteringProxy> {
  const signal = new AbortController().signal;
  const proxy = await startProxy({ admit, limits: { ...defaultProxyLimits, ...limits }, pages, signal });
  proxies.push(proxy);
  return proxy;
}

/** Writes a text to the proxy and returns the response until it closes. */
function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let received = '';
    socket.setEncoding('latin1').on('data', (piece: string) => {
      received += piece;
    });
    socket.on('error', () => undefined).on('close', () => resolve(received));
  });
}

function ask(
  { port, credentials }: FilteringProxy,
  line: string,
  more: readonly string[] = [],
  body = '',
): Promise<string> {
  const token = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
  const head = [`${line} HTTP/1.1`, 'Host: x', `Proxy-Authorization: Basic ${token}`, 'Connection: close', ...more];
  return exchange(port, `${head.join('\r\n')}\r\n\r\n${body}`);
}

const page = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello';
const answering =
  (text: string) =>
  (socket: Socket): void =>
    void socket.once('data', () => socket.end(text));

describe('the proxy of a browser', () => {
  it.each([
    ['a request without credentials', 'GET http://page.test/ HTTP/1.1\r\nHost: page.test\r\n\r\n'],
    ['a tunnel without credentials', 'CONNECT page.test:443 HTTP/1.1\r\nHost: page.test:443\r\n\r\n'],
    [
      'wrong credentials',
      'GET http://page.test/ HTTP/1.1\r\nHost: page.test\r\nProxy-Authorization: Basic YTpi\r\nConnection: close\r\n\r\n',
    ],
  ])('refuses %s before it asks anybody', async (_reason, text) => {
    const proxy = await proxyTo(async () => Promise.reject(new Error('not to be asked')));

    const answer = await exchange(proxy.port, text.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));

    expect(answer).toMatch(/^HTTP\/1\.1 407 /);
    expect(proxy.counts().requests).toBe(0);
  });

  it('passes a request on to the admitted address, without what is between it and the browser', async () => {
    const seen: (readonly string[])[] = [];
    const port = await start(
      createServer((request, response) => {
        seen.push(request.rawHeaders);
        response.end(`you asked for ${request.url}`);
      }),
    );
    const proxy = await proxyTo(admitSite([port]));

    const answer = await ask(proxy, `GET http://page.test:${port}/a?b`, ['Proxy-Connection: keep-alive', 'X-Kept: 1']);

    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toMatch(/you asked for \/a\?b$/);
    expect(seen[0]!.join(' ')).not.toMatch(/proxy/i);
    expect(seen[0]).toContain('X-Kept');
  });

  it('tunnels to the admitted address', async () => {
    const port = await startRaw((socket) => void socket.once('data', (data) => socket.end(`echo ${data.toString()}`)));
    const proxy = await proxyTo(admitSite([port]));
    const token = Buffer.from(`${proxy.credentials.username}:${proxy.credentials.password}`).toString('base64');

    const answer = await exchange(
      proxy.port,
      `CONNECT page.test:${port} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic ${token}\r\n\r\nping`,
    );

    expect(answer).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\necho ping$/s);
  });

  it('refuses a tunnel that the policy refuses, and keeps the reason', async () => {
    const proxy = await proxyTo(admitSite([]));

    const answer = await ask(proxy, 'CONNECT 169.254.169.254:80');

    expect(answer).toMatch(/^HTTP\/1\.1 502 /);
    expect(proxy.failureFor(new URL('http://169.254.169.254/'))?.code).toBe('target_refused_by_policy');
    expect(proxy.counts()).toMatchObject({ requests: 1, refused: 1 });
  });

  it('ends a refused request without an answer that could be taken for the page', async () => {
    const proxy = await proxyTo(admitSite([]));

    expect(await ask(proxy, 'GET http://10.0.0.1/')).toBe('');
    expect(proxy.failureFor(new URL('http://10.0.0.1/'))?.code).toBe('target_refused_by_policy');
  });

  it.each(['GET file:///etc/passwd', 'GET ftp://page.test/', 'GET /relative', 'CONNECT page.test', 'CONNECT a@b:80'])(
    'refuses %s',
    async (line) => {
      const proxy = await proxyTo(async () => Promise.reject(new Error('not to be asked')));

      expect(await ask(proxy, line)).toMatch(/^HTTP\/1\.1 400 /);
    },
  );

  it('resolves a name once: what it leads to later changes nothing', async () => {
    const [wanted, canary] = [await startRaw(answering(page)), await startRaw(answering(page))];
    const asked: (number | undefined)[] = [];
    const first = admitSite([wanted]);
    const proxy = await proxyTo((request, signal) => {
      asked.push(request.port);
      // From the second query on, the name resolves to the canary's address.
      return asked.length === 1 ? first(request, signal) : admitSite([])(request, signal);
    });

    const answers = [
      await ask(proxy, `GET http://rebinding.test:${wanted}/`),
      await ask(proxy, `GET http://rebinding.test:${wanted}/`),
      await ask(proxy, `GET http://rebinding.test:${canary}/`),
    ];

    expect(answers.map((answer) => answer.endsWith('hello'))).toEqual([true, true, false]);
    expect(asked).toEqual([wanted, canary]);
  });

  it('shows pages of its own without a connection', async () => {
    const proxy = await proxyTo(admitSite([]), {}, new Map([['own.invalid', (path) => ({ body: `own ${path}` })]]));

    expect(await ask(proxy, 'GET http://own.invalid/x')).toMatch(/own \/x$/);
    expect(proxy.counts().requests).toBe(0);
  });

  it.each([
    ['requests', { requests: 1 }],
    ['hosts', { hosts: 1 }],
  ] as const)('refuses what is over the limit of %s', async (limit, limits) => {
    const port = await startRaw(answering(page));
    const proxy = await proxyTo(admitSite([port]), limits);

    const first = await ask(proxy, `GET http://one.test:${port}/`);
    const second = await ask(proxy, `GET http://two.test:${port}/`);

    expect(first).toMatch(/hello$/);
    expect(second).toBe('');
    expect(proxy.failureFor(new URL(`http://two.test:${port}/`))).toMatchObject({
      code: 'screenshot_failed',
      message: expect.stringContaining(limit),
    });
    expect(proxy.counts().exceeded).toEqual([limit]);
  });

  it('ends a body that goes over the limit of bytes', async () => {
    const port = await startRaw((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        const timer = setInterval(() => socket.write('x'.repeat(50_000)), 1);
        socket.on('close', () => clearInterval(timer));
      });
    });
    const proxy = await proxyTo(admitSite([port]), { bytes: 500_000 });

    const answer = await ask(proxy, `GET http://page.test:${port}/`);

    expect(answer.length).toBeLessThan(1_000_000);
    // What the window of the open connection may hold counts before it is read, so that the target sends no more.
    expect(proxy.counts().bytes).toBeGreaterThan(500_000 - 256 * 1024);
    expect(proxy.counts().bytes).toBeLessThanOrEqual(500_000);
    expect(await ask(proxy, `GET http://page.test:${port}/`)).toBe('');
    expect(proxy.failureFor(new URL(`http://page.test:${port}/`))?.message).toMatch(/limit of bytes/);
    expect(proxy.counts().exceeded).toEqual(['bytes']);
  });

  it.each([
    ['plays the proxy', 'HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm="vantage"\r\nContent-Length: 0\r\n\r\n'],
    ['sends interim answers without end', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(10_000)],
    ['sends no HTTP', 'SSH-2.0-OpenSSH\r\n'],
    ['has a head without end', `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(100_000)}`],
  ])('gives up a target that %s', async (_reason, text) => {
    const port = await startRaw(answering(text));
    const proxy = await proxyTo(admitSite([port]));

    expect(await ask(proxy, `GET http://page.test:${port}/`)).toBe('');
  });

  it('tells a target that plays the proxy from one that closes the connection', async () => {
    const port = await startRaw(answering('HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n'));
    const proxy = await proxyTo(admitSite([port]));
    await ask(proxy, `GET http://page.test:${port}/`);

    expect(proxy.failureFor(new URL(`http://page.test:${port}/`))?.message).toContain('status 407');
  });

  for (const answer of readable) {
    itWithCurl(`passes on an answer that browsers read: ${answer.name}`, async () => {
      const verdict = await servingRaw(answer, async (url) => {
        const proxy = await proxyTo(admitSite([Number(new URL(url).port)]));
        const { username, password } = proxy.credentials;
        const through = `http://${username}:${password}@127.0.0.1:${proxy.port}`;
        return askCurl(url.replace('127.0.0.1', 'page.test'), answer.method, ['--proxy', through]);
      });

      expect(verdict).toBe(corpusVerdicts[answer.name]!.check);
    });
  }

  it('says that a target sends no HTTP', async () => {
    const port = await startRaw(answering('SSH-2.0-OpenSSH\r\n'));
    const proxy = await proxyTo(admitSite([port]));

    await ask(proxy, `GET http://page.test:${port}/`);

    expect(proxy.failureFor(new URL(`http://page.test:${port}/`))?.code).toBe('http_malformed');
  });

  it('sends the body of a request, and takes no body of unknown length', async () => {
    const port = await start(createServer((request, response) => void request.pipe(response)));
    const proxy = await proxyTo(admitSite([port]));

    const known = await ask(proxy, `POST http://page.test:${port}/`, ['Content-Length: 5'], 'hello');
    const unknown = await ask(proxy, `POST http://page.test:${port}/`, ['Transfer-Encoding: chunked'], '0\r\n\r\n');

    expect(known).toMatch(/^HTTP\/1\.1 200 [^]*hello/);
    expect(unknown).toBe('');
  });

  it('takes the next address of a name where the first is dead, and stays with it', async () => {
    const port = await startRaw(answering(page));
    const first = admitSite([port], [], '127.0.0.66');
    const proxy = await proxyTo(async (request, signal) => {
      const admission = await first(request, signal);
      if (!admission.admitted) return admission;
      return { ...admission, target: { ...admission.target, candidates: ['127.0.0.66', '127.0.0.1'] } };
    });

    const answers = [
      await ask(proxy, `GET http://page.test:${port}/`),
      await ask(proxy, `GET http://page.test:${port}/`),
    ];

    expect(answers.map((answer) => answer.endsWith('hello'))).toEqual([true, true]);
    expect(proxy.failureFor(new URL(`http://page.test:${port}/`))).toBeUndefined();
  });

  it('ends its connections when the screenshot is over', async () => {
    const port = await startRaw(() => undefined);
    const over = new AbortController();
    const options = { admit: admitSite([port]), limits: defaultProxyLimits, pages: new Map(), signal: over.signal };
    const proxy = await startProxy(options);
    const answer = ask(proxy, `GET http://page.test:${port}/`);
    while (proxy.counts().requests === 0) await new Promise((resolve) => setImmediate(resolve));

    over.abort();

    expect(await answer).toBe('');
    await proxy.close();
  });
});
