import { createServer as createSecureServer } from 'node:https';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import { hostilePages } from '@vantage/test-support/browser/hostile';
import { browserFolder, browserHere, type BrowserFolder } from '@vantage/test-support/browser/needs';
import { readPng } from '@vantage/test-support/browser/png';
import { admitSite, startSite, type Site } from '@vantage/test-support/browser/site';
import { closedPort } from '../../test/closed-port.ts';
import { lateHeadersBrowser } from '../../test/late-headers-browser.ts';
import { certificateMint } from '@vantage/test-support/certificate-mint';
import { startServer } from '@vantage/test-support/loopback';
import { itNeeding } from '@vantage/test-support/needs';
import { canMakeNamespace } from './process/namespace.ts';
import { createScreenshots, type CaptureRequest, type Screenshots, type ScreenshotsOptions } from './screenshots.ts';

const browser = browserHere(process.env['PATH']);
const itWithBrowser = itNeeding(browser.missing, process.env['CI']);
const canHaveNamespace = await canMakeNamespace(process.getuid?.() === 0 ? { uid: 65_534 } : {});
const itInNamespace = itNeeding(
  browser.missing ?? (canHaveNamespace ? null : 'a browser cannot have a network namespace here'),
  process.env['CI'],
);

const colours = `<!doctype html><body style="margin: 0; background: rgb(255, 0, 0)">
<div style="position: absolute; left: 640px; top: 400px; width: 640px; height: 400px; background: rgb(0, 0, 255)"></div></body>`;

const hostile = Object.fromEntries(hostilePages.map(({ name, serve }) => [pathOf(name), serve]));

function pathOf(name: string): string {
  return `/${name.replaceAll(' ', '-')}`;
}

let folder: BrowserFolder;
let site: Site;
const opened: Screenshots[] = [];
/** User agents that asked for `/`. */
const agents = new Set<string | undefined>();
/** Content of `/framed`. */
let framed = '';

beforeAll(async () => {
  folder = await browserFolder();
  folder.watch();
  site = await startSite({
    ...hostile,
    '/': (request, response) => {
      agents.add(request.headers['user-agent']);
      response.setHeader('Content-Type', 'text/html');
      response.end(colours);
    },
    '/locked': (_request, response) =>
      void response
        .writeHead(401, { 'Content-Type': 'text/html', 'WWW-Authenticate': 'Basic realm="x"' })
        .end('<body style="background: rgb(4, 5, 6)">'),
    '/remember': `<body><script>
      const known = document.cookie + localStorage.length;
      document.cookie = 'x=1; max-age=9999'; localStorage.x = 1;
      document.body.style.background = known === '0' ? 'lime' : 'red';
    </script>`,
    // This page grows so slowly that the watch of its memory sees it.
    '/grows': `<body><img src="/never" alt=""><script>
      const all = []; setInterval(() => all.push(new Uint8Array(8 << 20).fill(1)), 10);
    </script>`,
    '/never': () => undefined,
    '/no-gzip': (_request, response) =>
      void response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Encoding': 'gzip' }).end('<h1>plain</h1>'),
    '/cut-gzip': (_request, response) => {
      const whole = gzipSync(`<body style="background: lime">${'<p>text</p>'.repeat(10_000)}`);
      response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Encoding': 'gzip' });
      response.end(whole.subarray(0, whole.length - 20));
    },
    '/framed': (_request, response) => void response.writeHead(200, { 'Content-Type': 'text/html' }).end(framed),
    '/many-hosts': (request, response) => {
      const [, port] = (request.headers.host ?? '').split(':');
      const images = Array.from({ length: 80 }, (_, at) => `<img src="http://h${at}.test:${port}/" alt="">`);
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(images.join(''));
    },
    '/to-refused': (_request, response) => void response.writeHead(302, { Location: 'http://refused.example/' }).end(),
    '/to-file': (_request, response) => void response.writeHead(302, { Location: 'file:///etc/passwd' }).end(),
    '/in-circles': (_request, response) => void response.writeHead(302, { Location: '/in-circles' }).end(),
  });
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((screenshots) => screenshots.close()));
});

afterAll(async () => {
  await site.close();
  folder.remove();
});

function open(options: Partial<ScreenshotsOptions> = {}): Screenshots {
  const { executablePath } = browser;
  const made = createScreenshots({
    executablePath,
    tempFolder: folder.path,
    admit: admitSite([site.port]),
    selfTestMs: 240_000,
    ...options,
  });
  opened.push(made);
  return made;
}

/** A deadline that the test never reaches. */
function soon(): AbortSignal {
  return AbortSignal.timeout(280_000);
}

function request(url: string, more: Partial<CaptureRequest> = {}): CaptureRequest {
  const signal = soon();
  return {
    url,
    insecureSSL: false,
    userAgent: 'Vantage-Test/0 (+https://vantage.example/)',
    signal,
    timeoutMs: 240_000,
    ...more,
  };
}

async function pixelOf(screenshots: Screenshots, path: string): Promise<readonly number[]> {
  const { png, failure } = await screenshots.capture(request(site.origin + path));
  return png === null ? [failure.message].map(Number) : readPng(png).pixel(600, 700);
}

describe('a screenshot', () => {
  itWithBrowser('shows the page on 1280 by 800 pixels, and names the probe to the target', async () => {
    agents.clear();
    const captured = await open().capture(request(`${site.origin}/`));

    const { png, failure } = captured;
    expect(failure).toBeNull();
    expect(captured).not.toHaveProperty('cutAt');
    const picture = readPng(png!);
    expect([picture.width, picture.height]).toEqual([1280, 800]);
    expect(picture.pixel(0, 0)).toEqual([255, 0, 0]);
    expect(picture.pixel(639, 799)).toEqual([255, 0, 0]);
    expect(picture.pixel(640, 400)).toEqual([0, 0, 255]);
    expect(picture.pixel(1279, 799)).toEqual([0, 0, 255]);
    expect([...agents]).toEqual(['Vantage-Test/0 (+https://vantage.example/)']);
  });

  // The page's own host is one of the 64 (`defaultProxyLimits`).
  itWithBrowser('says at which limit a page was cut', async () => {
    const cut = await open().capture(request(`${site.origin}/many-hosts`));

    expect(cut).toMatchObject({ failure: null, cutAt: expect.arrayContaining(['hosts']) });
  });

  itWithBrowser('shows what an error status carries', async () => {
    expect(await pixelOf(open(), '/locked')).toEqual([4, 5, 6]);
  });

  itWithBrowser('remembers nothing of the one before', async () => {
    const screenshots = open();

    expect(await pixelOf(screenshots, '/remember')).toEqual([0, 255, 0]);
    expect(await pixelOf(screenshots, '/remember')).toEqual([0, 255, 0]);
    expect(screenshots.status()).toMatchObject({ taken: 2, failed: 0, running: 0, waiting: 0 });
  });

  itWithBrowser('judges certificates unless `insecureSSL` is set', async () => {
    const mint = certificateMint();
    const certificate = mint.issue({ subject: '/CN=page.test', names: ['DNS:page.test'] });
    const secure = await startServer(createSecureServer(certificate, (_request, response) => response.end(colours)));
    const screenshots = open({ admit: admitSite([secure.port]) });
    const url = `https://page.test:${secure.port}/`;

    const strict = await screenshots.capture(request(url));
    const lax = await screenshots.capture(request(url, { insecureSSL: true }));

    expect(strict.failure).toMatchObject({ code: 'tls_unknown_issuer', phase: 'tls', source: 'target' });
    expect(screenshots.status()).toMatchObject({ taken: 1, failed: 0, noPage: 1 });
    expect(lax.failure).toBeNull();
    await secure.close();
    mint.close();
  });

  itWithBrowser('fails with the reason of the policy, of the redirect', async () => {
    const screenshots = open();
    const codeOf = async (url: string): Promise<string | undefined> =>
      (await screenshots.capture(request(url))).failure?.code;

    expect(await codeOf('http://refused.example/')).toBe('target_refused_by_policy');
    expect(await codeOf('https://refused.example/')).toBe('target_refused_by_policy');
    expect(await codeOf(`${site.origin}/to-file`)).toBe('redirect_refused');
    expect(await codeOf(`${site.origin}/in-circles`)).toBe('redirect_limit');
  });

  itWithBrowser('names the place that failed where a redirect led there', async () => {
    const closed = await closedPort();
    const there = `http://page.test:${closed.port}`;
    const redirecting = await startServer(
      createServer((socket) => {
        socket.end(`HTTP/1.1 302 Found\r\nLocation: ${there}/\r\nContent-Length: 0\r\n\r\n`);
      }),
    );
    const screenshots = open({ admit: admitSite([redirecting.port, closed.port]) });

    const { failure } = await screenshots.capture(request(`http://page.test:${redirecting.port}/`));

    const message = `The target refused the connection. This was at ${there}, to which it leads.`;
    expect(failure).toMatchObject({ code: 'connection_refused', message });
    await redirecting.close();
    await closed.close();
  });

  itWithBrowser('fails with the reason of the policy behind a redirect that the browser reports late', async () => {
    const { path, remove } = lateHeadersBrowser(browser.executablePath);
    const captured = await open({ executablePath: path }).capture(request(`${site.origin}/to-refused`));
    remove();

    expect(captured).toMatchObject({ png: null, failure: { code: 'target_refused_by_policy' } });
  });

  itWithBrowser('says that the body cannot be decoded', async () => {
    const { failure } = await open().capture(request(`${site.origin}/no-gzip`));

    expect(failure).toMatchObject({ code: 'http_decode_failed', phase: 'response', source: 'target' });
  });

  itWithBrowser('shows a page that breaks off as far as it came', async () => {
    expect(await pixelOf(open(), '/cut-gzip')).toEqual([0, 255, 0]);
  });

  const lime = '<body style="background: lime">';
  const lengthOfLime = `Content-Type: text/html\r\nContent-Length: ${lime.length}\r\n`;
  const bentAnswers = {
    'a body that breaks off': `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n${lime}`,
    'bare line feeds': `HTTP/1.1 200 OK\r\n${lengthOfLime}\r\n${lime}`.replaceAll('\r', ''),
    'a folded header': `HTTP/1.1 200 OK\r\nX-A: a\r\n b\r\n${lengthOfLime}\r\n${lime}`,
    'bytes after the body': `HTTP/1.1 200 OK\r\n${lengthOfLime}\r\n${lime}<body style="background: red">`,
  };
  itWithBrowser('shows answers over plain HTTP as the browser itself would', async () => {
    const bent = await startServer(
      createServer((socket) => {
        socket.once('data', (head) => {
          const [, index = ''] = /^GET \/(\d) /.exec(head.toString()) ?? [];
          socket.end(Object.values(bentAnswers)[Number(index)] ?? '');
        });
      }),
    );
    const frames = Object.keys(bentAnswers).map(
      (_what, index) => `<iframe src="http://page.test:${bent.port}/${index}" width="300" height="700"></iframe>`,
    );
    framed = `<body style="margin: 0; display: flex">${frames.join('')}`;
    const screenshots = open({ admit: admitSite([site.port, bent.port]) });

    const { png, failure } = await screenshots.capture(request(`${site.origin}/framed`));

    expect(failure).toBeNull();
    const { pixel } = readPng(png!);
    const colours = Object.keys(bentAnswers).map((what, index) => [what, pixel(150 + 304 * index, 500)]);
    expect(colours).toEqual(Object.keys(bentAnswers).map((what) => [what, [0, 255, 0]]));
    await bent.close();
  });

  it.each([
    'file:///etc/passwd',
    'chrome://version',
    'view-source:http://page.test/',
    'data:text/html,x',
    'about:blank',
    'x',
  ])('is never taken of %s', async (url) => {
    await expect(open().capture(request(url))).rejects.toThrow(TypeError);
  });

  it('says that there is no browser', async () => {
    const screenshots = open({ executablePath: undefined });

    const { failure } = await screenshots.capture(request('http://page.test/'));

    expect(failure).toMatchObject({ code: 'capability_missing', source: 'probe' });
    expect(await screenshots.selfTest(soon())).toMatch(/no chromium/);
  });

  it('says that the browser cannot be started', async () => {
    const screenshots = open({ executablePath: '/bin/false' });

    const { failure } = await screenshots.capture(request('http://page.test/'));

    expect(failure).toMatchObject({ code: 'screenshot_failed', source: 'probe' });
    expect(failure?.message).toMatch(/did not start: it ended with status 1/);
    expect(folder.contents()).toEqual([]);
  });

  itWithBrowser(
    'waits for its turn, gives way if that is long in coming, and is refused if too many wait',
    async () => {
      const screenshots = open();
      const first = screenshots.capture(request(`${site.origin}/`));
      const second = await screenshots.capture(request(`${site.origin}/`, { waitMs: 1 }));

      expect(second.failure).toMatchObject({ code: 'probe_busy', source: 'probe' });
      expect(screenshots.status()).toMatchObject({ running: 1, waiting: 0 });
      const others = Array.from({ length: 5 }, () => screenshots.capture(request(`${site.origin}/never-ends`)));
      const pictures = [first, ...others];
      await expect(pictures[5]).resolves.toMatchObject({ failure: { code: 'probe_busy', source: 'probe' } });
      expect(screenshots.status()).toMatchObject({ running: 1, waiting: 4 });
      expect((await first).failure).toBeNull();
      await screenshots.close();
      const codes = (await Promise.all(pictures)).map(({ failure }) => failure?.code);
      expect(codes).toEqual([undefined, ...Array.from({ length: 4 }, () => 'timed_out'), 'probe_busy']);
      expect(folder.contents()).toEqual([]);
    },
  );
});

/** Time for which a hostile page runs after its request, milliseconds. */
const HOSTILE_MS = 700;

describe('a hostile page', () => {
  const sample = [
    'fills the memory',
    'never ends its script',
    'opens dialogs without end',
    'is a download',
    'floods the console',
  ];

  it.each(sample)('is in the sample only if what it costs is certain: %s', (name) => {
    expect(hostilePages.find((page) => page.name === name)?.costs).toMatch(/^(nothing|the screenshot)$/);
  });

  itWithBrowser(
    'costs its screenshot at most, and leaves no process, no file and the next screenshot whole',
    async () => {
      const screenshots = open({ memoryBytes: 500 * 1024 ** 2 });
      const left: unknown[] = [];
      const taken: string[] = [];
      for (const name of sample) {
        const over = new AbortController();
        const picture = screenshots.capture(request(site.origin + pathOf(name), { signal: over.signal }));
        while (!site.paths.includes(pathOf(name))) await sleep(20);
        await Promise.race([picture, sleep(HOSTILE_MS)]);
        over.abort();
        const { failure } = await picture;
        if (failure === null) taken.push(name);
        left.push(...folder.contents(), ...(await folder.processes()));
      }

      expect(left).toEqual([]);
      expect(taken).toEqual([]);
      expect(await pixelOf(screenshots, '/')).toEqual([255, 0, 0]);
    },
  );

  itWithBrowser('that never ends is shown as far as it is, and one that takes too much memory is ended', async () => {
    const [endless, growing] = [open(), open({ memoryBytes: 300 * 1024 ** 2 })];

    const [shown, ended] = await Promise.all([
      endless.capture(request(site.origin + pathOf('never ends'), { loadMs: 8_000 })),
      growing.capture(request(`${site.origin}/grows`)),
    ]);

    expect(shown.failure).toBeNull();
    expect(ended.failure).toMatchObject({ code: 'screenshot_failed', source: 'target' });
    expect(ended.failure?.message).toMatch(/more than 300 MiB/);
  });
});

describe('the self-test', () => {
  itWithBrowser('offers screenshots where the browser is confined, which leave no trace at any moment', async () => {
    const screenshots = open();

    expect(await screenshots.selfTest(soon())).toBeNull();
    expect(await pixelOf(screenshots, '/')).toEqual([255, 0, 0]);
    expect([...folder.contents(), ...(await folder.processes())]).toEqual([]);
    for (const ms of [1, 100, 300]) {
      await screenshots.capture(request(`${site.origin}/`, { signal: AbortSignal.timeout(ms) }));
      expect([...folder.contents(), ...(await folder.processes())]).toEqual([]);
    }
  });

  itWithBrowser('refuses a browser that goes around the proxy', async () => {
    const screenshots = open({
      namespace: false,
      changeFlags: (flags) => flags.filter((flag) => !flag.startsWith('--proxy-bypass')),
    });

    expect(await screenshots.selfTest(soon())).toMatch(/reached tcp 127\.0\.0\.1:/);
  });

  itWithBrowser('refuses a browser that sends datagrams', async () => {
    const screenshots = open({
      namespace: false,
      changeFlags: (flags) => flags.filter((flag) => !flag.includes('webrtc')),
    });

    expect(await screenshots.selfTest(soon())).toMatch(/reached udp /);
  });

  itInNamespace('keeps the namespace where it only lacks time', async () => {
    const screenshots = open({ selfTestMs: 1 });

    expect(await screenshots.selfTest(soon())).toMatch(/in time/);
    expect(screenshots.status().namespace).toBe(true);
  });

  itWithBrowser(
    'refuses a browser without its sandbox, and gives up the namespace, in which it failed too',
    async () => {
      const logged: string[] = [];
      const screenshots = open({
        changeFlags: (flags) => ['--no-sandbox', ...flags],
        log: (message) => logged.push(message),
      });

      expect(await screenshots.selfTest(soon())).toMatch(/sandbox of the browser is off/);
      expect(screenshots.status()).toMatchObject({ selfTest: expect.stringMatching(/sandbox/), namespace: false });
      if (canHaveNamespace) expect(logged).toContain('no network namespace for screenshots');
    },
  );
});
