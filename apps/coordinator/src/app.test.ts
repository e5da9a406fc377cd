import { afterEach, describe, expect, it } from '@jest/globals';
import { problemTypes } from '@vantage/contract';

import { post, startHttpBed, type BedOptions, type HttpBed } from '../test/http-bed.ts';
import { CHECK_ID } from '../test/http-fakes.ts';

let bed: HttpBed | undefined;

afterEach(async () => {
  await bed?.close();
  bed = undefined;
});

async function start(options: BedOptions = {}): Promise<HttpBed> {
  bed = await startHttpBed(options);
  return bed;
}

describe('the service', () => {
  it('lists probes, with a tag for who has the list already', async () => {
    const { ask } = await start();

    const first = await ask('/probes');
    const again = await ask('/probes', { headers: { 'If-None-Match': first.headers.get('ETag')! } });

    expect([first.status, first.json, again.status]).toEqual([200, {}, 304]);
  });

  it('is ready once nothing is missing', async () => {
    const missing = ['No probe is healthy.'];
    const { ask } = await start({ readiness: async () => missing });

    const before = await ask('/readyz');
    missing.pop();
    const after = await ask('/readyz');

    expect([before.status, after.status, (await ask('/healthz')).status]).toEqual([503, 200, 200]);
    expect(before.json).toMatchObject({ detail: 'No probe is healthy.' });
  });

  it.each([
    ['GET', '/check', 'POST, OPTIONS'],
    ['DELETE', '/probes', 'GET, HEAD, OPTIONS'],
    ['PUT', `/check/${CHECK_ID}/results`, 'GET, HEAD, OPTIONS'],
    ['POST', '/docs', 'GET, HEAD, OPTIONS'],
    ['POST', '/', 'GET, HEAD, OPTIONS'],
  ])('answers %s %s with 405 and what is allowed', async (method, path, allow) => {
    const { ask } = await start();

    const answer = await ask(path, { method });

    expect([answer.status, answer.headers.get('Allow')]).toEqual([405, allow]);
  });

  it.each([
    ['with the public API', { isGateway: true }],
    ['without it', { isGateway: true, isGatewayOnly: true }],
  ])('asks for an upgrade at the path of agents where it serves them: %s', async (_which, options) => {
    const { url } = await start(options);
    const answer = await fetch(`${url}/agent`);

    expect(await answer.json()).toMatchObject({ detail: 'Agents connect here by WebSocket.' });
    expect([answer.status, answer.headers.get('Upgrade'), answer.headers.get('Connection')]).toEqual([
      426,
      'websocket',
      'Upgrade',
    ]);
    expect((await fetch(`${url}/agent`, { method: 'POST' })).status).toBe(405);
  });

  it.each([
    '/nothing',
    '/agent',
    '/check/',
    '/Probes',
    '/probes/',
    '/problems/nothing',
    '//probes',
    '/check/x/results/y',
  ])('answers 404 at %s', async (path) => {
    const { ask } = await start();

    expect((await ask(path)).status).toBe(404);
  });

  it.each([
    ['/probes?locaton=DE', '?locaton: is not a known parameter; there are none'],
    ['/probes/agents?probe=fra-1', '?probe: is not a known parameter; there are none'],
    ['/me?ip=192.0.2.1', '?ip: is not a known parameter; there are none'],
    [`/check/${CHECK_ID}/results?wiat=5`, '?wiat: is not a known parameter; did you mean wait?'],
    [`/check/${CHECK_ID}/events?wait=5`, '?wait: is not a known parameter; expected lastEventId'],
    [`/check/${CHECK_ID}/summary?format=text`, '?format: is not a known parameter; there are none'],
    [`/check/${CHECK_ID}/compare/${CHECK_ID}?probe=a`, '?probe: is not a known parameter; there are none'],
    ['/monitors?state=bad', '?state: is not a known parameter; there are none'],
    ['/monitors/web?runs=5', '?runs: is not a known parameter; there are none'],
    ['/monitors/web/events?after=1-0', '?after: is not a known parameter; expected lastEventId'],
  ])('refuses a parameter that is ignored otherwise: %s', async (path, detail) => {
    const { ask } = await start();

    expect(await ask(path)).toMatchObject({ status: 400, json: { detail, errors: [{}] } });
  });

  it('refuses parameters of POST /check, and counts the request', async () => {
    const { ask } = await start();
    const answer = await ask('/check?type=ping', post({ type: 'tcp', host: 'example.com', port: 443 }));

    expect(answer).toMatchObject({ status: 400, json: { detail: '?type: is not a known parameter; there are none' } });
    expect(answer.headers.get('RateLimit')).toMatch(/^"create-check"; r=\d+/);
  });

  it('ignores parameters that sites, caches and load balancers add', async () => {
    const { ask } = await start();
    const paths = ['/probes?utm_source=chat&fbclid=a&_=1', '/me?utm_medium=mail', '/?ref=x', '/docs?ref=x'];
    const answers = await Promise.all([...paths, '/metrics/monitors?ref=x', '/readyz?ref=x'].map((path) => ask(path)));

    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });

  it('answers HEAD as GET without the body', async () => {
    const { ask } = await start();

    const answers = await Promise.all(['/probes', '/me', '/docs', '/'].map((path) => ask(path, { method: 'HEAD' })));

    expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [200, '']));
  });

  it('lets any page ask, read the limits, and send JSON, without credentials', async () => {
    const { ask } = await start();

    const preflight = await ask('/check', {
      method: 'OPTIONS',
      headers: { Origin: 'https://page.example', 'Access-Control-Request-Method': 'POST' },
    });
    const answer = await ask('/probes', { headers: { Origin: 'https://page.example' } });

    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(preflight.headers.get('Access-Control-Allow-Methods')).toContain('POST');
    expect(preflight.headers.get('Access-Control-Allow-Headers')).toContain('Content-Type');
    expect(answer.headers.get('Access-Control-Expose-Headers')).toMatch(
      /Location.*RateLimit.*Retry-After.*X-Request-Id/,
    );
    expect(answer.headers.has('Access-Control-Allow-Credentials')).toBe(false);
  });

  it('makes every link from the public address, below its prefix and where a proxy strips it', async () => {
    const { ask, url } = await start({ publicUrl: 'https://vantage.example/net/' });
    const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' };

    const stripped = await ask('/check', post({ type: 'tcp', host: 'a.example', port: 1 }, headers));
    const whole = await fetch(`${url}/net/check`, post({ type: 'tcp', host: 'a.example', port: 1 }, headers));
    const problem = await (await fetch(`${url}/net/nothing`)).json();
    const page = await (await fetch(`${url}/net/docs`)).text();

    expect(stripped.headers.get('Location')).toBe(`/net/check/${CHECK_ID}/results`);
    expect([whole.status, whole.headers.get('Location')]).toEqual([202, `/net/check/${CHECK_ID}/results`]);
    expect(problem).toMatchObject({ type: 'https://vantage.example/net/problems/not-found', instance: '/net/nothing' });
    expect(page).toContain('href="/net/docs/style.css"');
    expect(page).toContain('href="/net/icon.svg"');
    expect(page).not.toContain('evil.example');
    expect((await fetch(`${url}/net/docs/style.css`)).status).toBe(200);
  });

  it('explains every type of problem that it answers', async () => {
    const { ask, url } = await start();

    const { json } = await ask('/nothing');
    const { type } = json as { readonly type: string };
    const page = await ask(type.slice(url.length));

    expect([page.status, page.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain('Nothing here');
    for (const [name, { title }] of Object.entries(problemTypes)) {
      const { status, text } = await ask(`/problems/${name}`);
      expect([name, status, text.includes(`<h1>${title}</h1>`)]).toEqual([name, 200, true]);
    }
  });

  it('serves pages that load nothing from elsewhere', async () => {
    const { ask } = await start();

    const pages = await Promise.all(['/docs', '/problems/rate-limited'].map((path) => ask(path)));

    for (const { headers, text } of pages) {
      expect(headers.get('Content-Security-Policy')).toContain(
        "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'",
      );
      expect(text).not.toMatch(/<script|<img|style="|(?:src|<link[^>]*href)="https?:/);
    }
  });

  it('asks robots to start no check and to follow no stream', async () => {
    const { url } = await start();

    const answered = await fetch(`${url}/robots.txt`);
    const text = await answered.text();

    expect([answered.status, answered.headers.get('Content-Type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(text).toMatch(/^User-agent: \*\n(Disallow: \/\S+\n)+$/);
    expect(text).toContain('Disallow: /probe?\n');
    expect(text).not.toMatch(/^Disallow: (\/|\/c\/?|\/check\/?)$/m);
  });

  it('lets a keyboard scroll each wide part of the API reference, and folds the problems', async () => {
    const { ask } = await start();

    const { text } = await ask('/docs');

    const wide = text.match(/<(?:div class="scroll"|pre)[^>]*>/g)!;
    expect(wide.length).toBeGreaterThan(20);
    expect(wide.filter((tag) => !/tabindex="0"\s+role="group"\s+aria-label="\w/.test(tag))).toEqual([]);
    expect(text).toMatch(/<summary>Problems: 400, /);
  });

  it('has a command for each operation, and the font of the web page, in the API reference', async () => {
    const { ask, url } = await start();
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { readonly paths: object };
    const operations = Object.values(paths).flatMap((item: object) => Object.keys(item));

    const { text } = await ask('/docs');
    const style = await (await fetch(`${url}/docs/style.css`)).text();
    const [, font = ''] = /src: url\('([^']+)'\)/.exec(style) ?? [];
    const { status, headers } = await fetch(`${url}${font}`);

    expect(text.match(/<code>curl -s/g)).toHaveLength(operations.length);
    expect(text).not.toMatch(/curl [^<]*(undefined|\{\w+\})/);
    expect([status, headers.get('Content-Type')]).toEqual([200, 'font/woff2']);
  });

  it('shows the steps of the introduction as a list in the API reference', async () => {
    const { ask } = await start();

    const { text } = await ask('/docs');

    expect(text).toMatch(/<ol>\s*<li><code>POST \/check<\/code> starts a check/);
    expect(text.match(/<ol>[^]*?<\/ol>/)![0].match(/<li>/g)).toHaveLength(5);
  });

  it('serves one document for every view of the web page, and the files that it is made of', async () => {
    const { ask, url } = await start();

    const [home, status, check] = await Promise.all(
      ['/', '/status', '/c/qPUXvL1sQx2rGJm0Zf7N4w'].map((path) => ask(path)),
    );

    expect(status!.text).toBe(home!.text);
    expect(check!.text).toContain('href="/check/qPUXvL1sQx2rGJm0Zf7N4w/results"');
    expect(check!.headers.get('X-Robots-Tag')).toBe('noindex');
    expect(home!.headers.get('Content-Security-Policy')).toContain(
      "default-src 'none'; script-src 'self'; style-src 'self'",
    );
    const files = [...home!.text.matchAll(/(?:src|href)="(\/(?:assets\/)?[\w-]+\.\w+)"/g)].map(([, path]) => path!);
    expect(files.length).toBeGreaterThanOrEqual(5);
    for (const path of files.filter((file) => file !== '/openapi.json')) {
      const { status: answered, headers } = await fetch(`${url}${path}`);
      expect([answered, headers.get('ETag')]).toEqual([200, expect.stringMatching(/^"/)]);
    }
    const again = await ask('/', { headers: { 'If-None-Match': home!.headers.get('ETag')! } });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  it('answers browsers with the page at an unknown path, and programs with a problem', async () => {
    const { ask, url } = await start();
    const browser = { headers: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };

    const page = await fetch(`${url}/chekc`, browser);
    const again = await fetch(`${url}/chekc`, { headers: { ...browser.headers, 'If-None-Match': '*' } });
    const program = await ask('/chekc');
    const posted = await ask('/chekc', { ...browser, method: 'POST' });

    expect([page.status, page.headers.get('Content-Type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.headers.get('Vary')).toContain('Accept');
    expect(await page.text()).toBe((await ask('/')).text);
    expect(again.status).toBe(404);
    for (const { status, headers } of [program, posted]) {
      expect([status, headers.get('Content-Type')]).toEqual([404, 'application/problem+json']);
    }
  });

  it('says nothing of what it is made of', async () => {
    const { ask } = await start();

    const { headers } = await ask('/probes');

    expect(headers.has('X-Powered-By')).toBe(false);
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(headers.get('Referrer-Policy')).toBe('no-referrer');
    expect(headers.get('Content-Security-Policy')).toContain("frame-ancestors 'none'");
  });
});
