import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Check, Screenshot } from '@vantage/contract';
import { summarize } from '@vantage/summary';

import { axeViolations, colourViolations } from './axe.ts';
import { here, WAIT_LIMIT_MS, textOf, untilText, untilTrue } from './browser.ts';
import { itInBrowser } from './it-in-browser.ts';
import { problem } from './showcase-answers.ts';
import { startShowcase, type Showcase } from './showcase.ts';
import { openSuiteBrowser, type SuiteBrowser, type SuiteTab } from './suite-browser.ts';
import { httpCheck, pingCheck, tracerouteCheck, world, worldChecks } from './world.ts';

jest.setTimeout(4 * WAIT_LIMIT_MS);

const views = [
  ['the first page', '/', 'measured from 10 of 12 probes'],
  ['the probes', '/status', 'No IPv6: the probe has no route'],
  ['a check that is gone', '/c/nnnnnnnnnnnnnnnnnnnnnn', 'This check is gone'],
  ...worldChecks.map((check) => [`a check of ${check.type}`, `/c/${check.testId}`, 'probes agree'] as const),
] as const;

describe('the page', () => {
  let browser: SuiteBrowser | undefined;
  let showcase: Showcase;
  let tab: SuiteTab;

  beforeAll(async () => {
    // Without a browser the tests below are skipped with a reason.
    showcase = await startShowcase();
    if (here.missing === null) browser = await openSuiteBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    showcase.close();
  });

  beforeEach(async () => {
    showcase.reset();
    if (browser !== undefined) tab = await browser.openTab(showcase.url);
  });
  afterEach(async () => tab?.close());

  async function open(path: string, text: string): Promise<void> {
    await tab.page.goto(`${showcase.url}${path}`);
    await untilText(tab.page, text);
  }

  for (const [name, path, text] of views) {
    itInBrowser(`can be used by everyone, fits a phone and breaks no policy: ${name}`, async () => {
      await tab.page.setViewport({ width: 390, height: 844 });
      await tab.page.emulateMediaFeatures([
        { name: 'prefers-color-scheme', value: 'dark' },
        { name: 'prefers-reduced-motion', value: 'reduce' },
      ]);
      await open(path, text);
      expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      expect(await colourViolations(tab.page)).toEqual([]);
      // 1280 pixels at 400 % (WCAG 2.2, 1.4.10 Reflow).
      await tab.page.setViewport({ width: 320, height: 256 });
      expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(320);

      await tab.page.emulateMediaFeatures([
        { name: 'prefers-color-scheme', value: 'light' },
        { name: 'prefers-reduced-motion', value: 'reduce' },
      ]);
      await tab.page.setViewport({ width: 1440, height: 900 });
      // Expands collapsed content, so that it is tested too.
      await tab.page
        .evaluate(`for (const button of document.querySelectorAll('.opener, .options .quiet')) button.click();
        for (const details of document.querySelectorAll('details')) details.open = true;`);
      expect(await axeViolations(tab.page)).toEqual([]);
      expect(tab.faults).toEqual([]);
    });
  }

  itInBrowser('keeps names without spaces, of any length that probes may have, inside of their card', async () => {
    const long = 'W'.repeat(120);
    const [id, probe] = Object.entries(world)[0]!;
    showcase.reset({ probes: { [id]: { ...probe, name: long, city: long, datacenter: long, isp: long } } });
    await tab.page.setViewport({ width: 320, height: 640 });
    await open('/status', long);

    expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(320);
  });

  itInBrowser('fades the pins of probes that were not chosen, without a place too', async () => {
    const unplaced = Object.entries(world).map(([id, probe], index) =>
      index % 2 === 0 ? [id, probe] : [id, { ...probe, latitude: null, longitude: null }],
    );
    showcase.reset({ probes: Object.fromEntries(unplaced) as typeof world });
    await open('/', 'Place not stated');
    for (const pins of ['.pins', '.elsewhere']) {
      await tab.page.evaluate(`document.querySelector('${pins} .pin').click()`);
    }

    await untilText(tab.page, 'measured from 2 chosen probes');
    await untilTrue(tab.page, `document.querySelectorAll('.pin:not(.is-faint)').length === 2`);
  });

  itInBrowser('never puts the probes without a place over those with one', async () => {
    const unplaced = Object.entries(world)
      .slice(0, 8)
      .flatMap(([id, probe]) =>
        ['a', 'b'].map((mark) => [`${id}${mark}`, { ...probe, latitude: null, longitude: null }]),
      );
    showcase.reset({ probes: { ...world, ...Object.fromEntries(unplaced) } as typeof world });
    const covered = `(() => {
      const boxes = (selector) => [...document.querySelectorAll(selector)].map((e) => e.getBoundingClientRect());
      return boxes('.elsewhere span, .elsewhere .pin').filter((one) => boxes('.pins .pin').some((other) =>
        one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom)).length;
    })()`;
    await open('/', 'Place not stated');
    await untilTrue(tab.page, `document.querySelectorAll('.elsewhere .pin').length === 16`);
    for (const width of [390, 768, 1280]) {
      await tab.page.setViewport({ width, height: 900 });
      expect([width, await tab.page.evaluate(covered)]).toEqual([width, 0]);
      // The positions of the pins are percentages, so their box must be as high as the map.
      const sizes = `['.land', '.pins'].map((e) => Math.round(document.querySelector(e).getBoundingClientRect().height))`;
      const [land, pins] = (await tab.page.evaluate(sizes)) as [number, number];
      expect([width, pins]).toEqual([width, land]);
      expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    }
    if (process.env['SHOTS'] !== undefined) {
      await tab.page.setViewport({ width: 390, height: 900 });
      await tab.page.screenshot({ path: `${process.env['SHOTS']}/unplaced.png` });
    }
  });

  itInBrowser('has no colour of failure for a resolver that cannot be reached, which proves nothing', async () => {
    const error = {
      code: 'dns_resolver_unreachable',
      message: 'It cannot be reached.',
      phase: 'connect',
      source: 'resolver',
    };
    const check = worldChecks.find(({ type }) => type === 'dns')!;
    const results = Object.fromEntries(
      Object.entries(check.results).map(([id, result]) => [
        id,
        { ...result, result: 'failure', rt: null, error, rcode: undefined, answers: undefined, answerKind: undefined },
      ]),
    );
    showcase.checks.set(check.testId, { ...check, results: results });
    await open(`/c/${check.testId}`, 'Unknown');
    await untilTrue(tab.page, `document.querySelector('[data-probe]') !== null`);

    expect(await tab.page.evaluate(`document.querySelectorAll('main .bad').length`)).toBe(0);
    expect(await tab.page.evaluate(`document.querySelectorAll('.lamp.mute').length`)).toBe(Object.keys(results).length);
  });

  itInBrowser('breaks no short value of a narrow table, and has its columns below each other', async () => {
    // Includes values such as NXDOMAIN and open|filtered, and rows without an address.
    const brokenOrAskew = `(() => {
      const rows = [...document.querySelectorAll('[data-probe]')];
      const valuesOf = (row) => [...row.querySelectorAll('td:nth-child(n + 3)')]
        .filter((cell) => cell.getClientRects().length > 0);
      const linesOf = (cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getClientRects().length;
      };
      const edges = new Set(rows.map((row) => valuesOf(row).map((cell) => cell.getBoundingClientRect().left).join()));
      const broken = rows.flatMap(valuesOf).filter((cell) => cell.matches('.short, .number') && linesOf(cell) > 1)
        .map((cell) => cell.innerText);
      return [...broken, ...(edges.size > 1 ? [...edges] : [])];
    })()`;
    await tab.page.setViewport({ width: 390, height: 900 });
    for (const { type, testId } of worldChecks.filter(
      ({ type }) => type === 'dns' || type === 'udp' || type === 'ping',
    )) {
      await open(`/c/${testId}`, 'probes agree');
      await untilTrue(tab.page, `document.querySelector('table:not([aria-busy]) [data-probe]') !== null`);
      expect([type, await tab.page.evaluate(brokenOrAskew)]).toEqual([type, []]);
    }
  });

  itInBrowser('breaks the name of a time zone where it has parts', async () => {
    const check = worldChecks.find(({ type }) => type === 'info')!;
    const results = Object.fromEntries(
      Object.entries(check.results).map(([id, result]) => [id, { ...result, timezone: 'America/Los_Angeles' }]),
    );
    showcase.checks.set(check.testId, { ...check, results: results });
    await tab.page.setViewport({ width: 390, height: 900 });
    await open(`/c/${check.testId}`, 'America/');
    // Each part has one box per line: a part with several boxes is broken.
    const lines = `(() => {
      const value = [...document.querySelectorAll('dt')].find((e) => e.innerText === 'Time zone').nextSibling;
      const walker = document.createTreeWalker(value, NodeFilter.SHOW_TEXT);
      const parts = [];
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(node);
        parts.push([node.textContent, range.getClientRects().length]);
      }
      return parts;
    })()`;
    expect(await tab.page.evaluate(lines)).toEqual([
      ['America/', 1],
      ['Los_', 1],
      ['Angeles', 1],
    ]);
  });

  itInBrowser('shows how agents are connected, and those that wait', async () => {
    await open('/status', 'by gateway');

    await untilText(tab.page, 'by Redis');
    await untilText(tab.page, 'waits for approval');
  });

  itInBrowser('shows each answer as it comes, and then what they mean', async () => {
    const [first, second] = ['fra-1', 'nyc-1'];
    const state = (results: Record<string, unknown>, status: Check['status'] = 'pending'): Check => ({
      ...pingCheck,
      emptyLocations: ['Japan'],
      status,
      completedAt: status === 'completed' ? pingCheck.completedAt : null,
      results: results as Check['results'],
    });
    const pending = { result: 'pending' };
    const results = pingCheck.results as Record<string, Record<string, unknown>>;
    const partial = {
      result: 'pending',
      packets: [{ seq: 1, rtt: 0.9, ttl: 54, from: '192.0.2.80', duplicate: false }],
    };
    showcase.checks.set(pingCheck.testId, state({ [first]: pending, [second]: pending }));
    await open(`/c/${pingCheck.testId}`, '0 of 2 finished');
    const emptyText = 'No probe at “Japan”: measured from the other locations.';
    expect(await textOf(tab.page, '.verdict')).toContain(emptyText);

    showcase.show(state({ [first]: partial, [second]: pending }));
    await untilTrue(tab.page, `document.querySelectorAll('.distribution circle').length === 1`);
    showcase.show(state({ [first]: results[first], [second]: pending }));
    await untilText(tab.page, '1 of 2 finished');
    expect(await textOf(tab.page, `[data-probe="${first}"] .outcome`)).toBe('Success');
    expect(await textOf(tab.page, `[data-probe="${second}"] .outcome`)).toBe('Measuring');
    await untilTrue(
      tab.page,
      `[...document.querySelectorAll('[role=status]')].some((e) => e.textContent.startsWith('1 of 2 probes'))`,
    );
    showcase.show(state({ [first]: results[first], [second]: results[second] }, 'completed'));

    await untilText(tab.page, '2 of 2 probes agree');
    expect(await textOf(tab.page, '.headline')).toContain('answers pings from both probes');
    expect(await textOf(tab.page, '.verdict')).toContain(emptyText);
    expect(await tab.page.evaluate(`document.querySelectorAll('.pins .pin.good').length`)).toBe(2);
    await untilTrue(
      tab.page,
      `[...document.querySelectorAll('[role=status]')].some((e) => e.textContent.startsWith('Completed. '))`,
    );
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('has no chart of a ping or request whose name does not resolve', async () => {
    const error = { code: 'dns_nxdomain', message: 'The name does not exist.', phase: 'resolve' };
    const failure = { result: 'failure', resolvedIp: null, error };
    for (const check of [pingCheck, httpCheck]) {
      const state = (result: object, status: Check['status']): Check =>
        ({ ...check, status, completedAt: null, results: { 'fra-1': result } }) as unknown as Check;
      showcase.checks.set(check.testId, state({ result: 'pending' }, 'pending'));
      await open(`/c/${check.testId}`, '0 of 1 finished');
      await untilTrue(tab.page, `document.querySelector('.strips') !== null`);
      expect(await tab.page.evaluate(`document.querySelector('.strips .axis') === null`)).toBe(true);

      showcase.show(state(failure, 'completed'));

      await untilTrue(tab.page, `document.querySelector('.strips') === null`);
    }
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('offers the URL with http as a button if what the server sent is not TLS', async () => {
    const url = 'http://www.example.com:8080/';
    const message = `What the server sent is not TLS. If it speaks HTTP without TLS, its URL is ${url}.`;
    const error = { code: 'tls_handshake_failed', message, phase: 'tls', source: 'target' };
    const results = { 'fra-1': { ...httpCheck.results['fra-1'], result: 'failure', error } };
    showcase.checks.set(httpCheck.testId, { ...httpCheck, results });
    await open(`/c/${httpCheck.testId}`, 'The server may speak HTTP without TLS');
    expect(await axeViolations(tab.page)).toEqual([]);
    await tab.page.click(`aria/Check ${url}`);

    await untilTrue(tab.page, `location.pathname === '/c/${[...showcase.checks.keys()][0]!}'`);
    expect(showcase.posted).toEqual([{ type: 'http', host: url, probes: ['fra-1'] }]);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('needs no mouse', async () => {
    const { keyboard } = tab.page;
    await open('/', 'measured from 10 of 12 probes');
    await tab.page.evaluate('document.activeElement.blur()');
    await keyboard.press('/');
    await keyboard.type('www.example.com');
    await keyboard.down('Shift');
    await keyboard.press('Tab');
    await keyboard.up('Shift');
    await keyboard.press('ArrowRight');
    await keyboard.press('ArrowRight');
    await untilTrue(tab.page, `document.querySelector('input[value=dns]').checked`);
    await keyboard.press('Tab');
    await keyboard.press('Tab');
    await keyboard.type('MX');
    await keyboard.press('Enter');

    await untilText(tab.page, 'probes agree');
    expect(showcase.posted).toEqual([{ type: 'dns', host: 'www.example.com', recordType: 'MX' }]);
    expect(tab.page.url()).toBe(`${showcase.url}/c/${pingCheck.testId}`);
    expect(await tab.page.evaluate('document.activeElement.id')).toBe('main');
    await tab.page.focus('[data-probe="lhr-1"] .opener');
    await keyboard.press('Enter');
    await untilText(tab.page, '8 of 8 answered');
    expect(await tab.page.evaluate(`document.activeElement.getAttribute('aria-expanded')`)).toBe('true');
    await keyboard.press('Space');
    await untilTrue(tab.page, `document.activeElement.getAttribute('aria-expanded') === 'false'`);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('shows what strangers wrote as text', async () => {
    const evil = `"><img src=x onerror="pwned=1"><script>pwned=1</script>`;
    const hop = (tracerouteCheck.results['fra-1'] as { hops: Record<string, unknown>[] }).hops[0]!;
    const bad = { ...hop, hostname: evil, asName: evil, responders: [] };
    const http = httpCheck.results['fra-1'] as Record<string, unknown>;
    const tls = http['tls'] as { chain: Record<string, unknown>[] };
    showcase.reset({
      checks: [
        {
          ...tracerouteCheck,
          host: evil,
          results: { 'fra-1': { ...(tracerouteCheck.results['fra-1'] as object), hops: [bad] } },
        },
        {
          ...httpCheck,
          results: {
            'fra-1': {
              ...http,
              url: 'javascript:pwned=1',
              location: evil,
              headers: [[evil, evil]],
              sslSubject: evil,
              tls: {
                ...tls,
                chain: [{ ...tls.chain[0], subject: `CN=${evil}`, subjectAltNames: [evil] }],
                faults: [{ code: 'tls_untrusted', certificate: 0, reason: evil }],
              },
            },
          },
        },
      ],
    });

    for (const id of [tracerouteCheck.testId, httpCheck.testId]) {
      await open(`/c/${id}`, 'fra-1');
      await tab.page.click('.opener');
      await untilTrue(tab.page, `document.querySelector('.details') !== null`);
      await untilText(tab.page, '"><img src=x');
      const found = await tab.page.evaluate(`({
        pwned: typeof pwned,
        images: [...document.querySelectorAll('img')].map((image) => new URL(image.src).pathname),
        scripts: document.querySelectorAll('#page script').length,
        links: [...document.querySelectorAll('a')].filter((link) => !/^https?:$/.test(link.protocol)).length,
      })`);
      const images = id === httpCheck.testId ? [`/check/${id}/screenshot`] : [];
      expect(found).toEqual({ pwned: 'undefined', images, scripts: 0, links: 0 });
    }
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('has the state of the port in the row of a trace over TCP', async () => {
    const { results } = tracerouteCheck;
    showcase.checks.set(tracerouteCheck.testId, {
      ...tracerouteCheck,
      results: { 'fra-1': { ...results['fra-1'], protocol: 'tcp', state: 'closed' } },
    });
    await open(`/c/${tracerouteCheck.testId}`, 'fra-1');
    await tab.page.click('.opener');

    await untilTrue(tab.page, `document.querySelector('.details')?.innerText.includes('closed (RST)')`);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser(
    'shows every fault of a certificate, and what else a browser would hold against the connection',
    async () => {
      const http = httpCheck.results['fra-1'] as Record<string, unknown>;
      const faults = [
        { code: 'tls_self_signed', certificate: 0, reason: 'The certificate is self-signed and not trusted.' },
        { code: 'tls_expired', certificate: 0, reason: 'The certificate was valid until 2026-01-01.' },
      ];
      const tls = {
        ...(http['tls'] as object),
        authorized: false,
        authorizationError: 'tls_self_signed',
        faults,
        daysLeft: -3,
        keyExchange: { group: 'DH', bits: 1024 },
        clientCertificateRequested: true,
        mustStaple: true,
        chainLength: 12,
      };
      showcase.reset({ checks: [{ ...httpCheck, results: { 'fra-1': { ...http, tls } } }] });
      await open(`/c/${httpCheck.testId}`, 'fra-1');

      for (const { reason } of faults) await untilText(tab.page, reason);
      await untilText(tab.page, 'DH, 1024 bits');
      await untilText(tab.page, 'demanded, none sent');
      await untilText(tab.page, 'asked for');
      await untilText(tab.page, 'and 9 certificates more');
      expect(tab.faults).toEqual([]);
    },
  );

  itInBrowser('shows a refusal next to its field', async () => {
    showcase.answers.push(
      { status: 400, body: problem(400, 'Invalid.', [{ path: '/host', message: 'must be a host name' }]) },
      { status: 400, body: problem(400, 'Invalid.', [{ path: '/options/count', message: 'must be <= 16' }]) },
      { status: 403, body: problem(403, '10.0.0.1 is in 10.0.0.0/8 (Private-Use).') },
      { status: 422, body: problem(422, 'No probe that is online matches the request.') },
      { status: 429, headers: { 'retry-after': '40' }, body: problem(429, 'Too many checks from your address.') },
      { status: 503, headers: { 'retry-after': '1' }, body: problem(503, 'The store cannot be reached.') },
      { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' },
    );
    await open('/', 'measured from 10 of 12 probes');
    await tab.page.click('button.start');
    await untilText(tab.page, 'Type what to check');
    await tab.page.type('#host', 'x');
    const sent = async (text: string): Promise<void> => {
      await tab.page.focus('#host');
      await tab.page.keyboard.press('Enter');
      await untilText(tab.page, text);
    };

    await sent('Must be a host name.');
    await untilTrue(tab.page, `document.activeElement.id === 'host' && document.activeElement.ariaInvalid === 'true'`);
    await sent('Must be <= 16.');
    await untilTrue(tab.page, `document.activeElement.dataset.field === 'options.count'`);
    await sent('10.0.0.1 is in 10.0.0.0/8 (Private-Use).');
    await untilTrue(tab.page, `document.activeElement.id === 'host'`);
    await sent('No probe that is online matches the request.');
    await sent('Too many checks from your address.');
    await untilText(tab.page, 'Try again in ');
    // The announcement omits the countdown.
    expect(await textOf(tab.page, '[role=alert]')).toBe('Too many checks from your address.');
    await sent('The store cannot be reached.');
    await untilText(tab.page, 'You can try again now.');
    await sent('answered with status 502');
    expect(new URL(tab.page.url()).pathname).toBe('/');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('leads to the port where that is refused', async () => {
    showcase.answers.push({ status: 400, body: problem(400, 'Invalid.', [{ path: '/port', message: 'is required' }]) });
    await open('/?type=tcp&host=www.example.com', 'measured from 10 of 12 probes');
    await tab.page.focus('#host');
    await tab.page.keyboard.press('Enter');

    await untilText(tab.page, 'Port is required.');
    await untilTrue(tab.page, `document.activeElement.dataset.field === 'port'`);
    expect(await axeViolations(tab.page)).toEqual([]);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('leads to the locations if there is no probe at them', async () => {
    const type = 'https://vantage.example/problems/no-probe-available';
    showcase.answers.push({ status: 422, body: { ...problem(422, 'There is no probe at "JP".'), type } });
    await open('/?type=ping&host=www.example.com&locations=JP', 'measured from up to 10 of the probes');
    await tab.page.focus('#host');
    await tab.page.keyboard.press('Enter');

    await untilText(tab.page, 'There is no probe at "JP".');
    await untilTrue(tab.page, `document.activeElement.dataset.field === 'locations'`);
    expect(await axeViolations(tab.page)).toEqual([]);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('asks once for each part of a completed check', async () => {
    // The test decides when the pause ends after which the results are requested: on a busy machine the pause might end
    // before the first event.
    await tab.atStart(`{
      const [start, stop, held] = [window.setTimeout, window.clearTimeout, new Map()];
      window.setTimeout = (run, ms, ...rest) => {
        const id = start(ms === 500 ? () => undefined : run, ms, ...rest);
        if (ms === 500) held.set(id, run);
        return id;
      };
      window.clearTimeout = (id) => { held.delete(id); stop(id); };
      addEventListener('pauseends', () => { for (const run of held.values()) run(); });
    }`);
    await open(`/c/${pingCheck.testId}`, 'probes agree');
    await tab.page.evaluate(`dispatchEvent(new Event('pauseends'))`);
    await sleep(200);

    const asked = showcase.asked.filter((path) => /^\/(?:check\/|probes)/.test(path));
    expect(asked.toSorted()).toEqual([
      `/check/${pingCheck.testId}/events`,
      `/check/${pingCheck.testId}/summary`,
      '/probes',
    ]);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('says why a check was removed, and does not offer to try again', async () => {
    showcase.reset({
      before: async (path, response) => {
        if (!path.startsWith('/check/')) return false;
        response.writeHead(410, { 'content-type': 'application/problem+json' });
        response.end(JSON.stringify(problem(410, 'Its results were removed before their time.')));
        return true;
      },
    });
    await open(`/c/${pingCheck.testId}`, 'Its results were removed before their time.');

    expect(await textOf(tab.page, 'h1')).toBe('This check is gone');
    expect(await textOf(tab.page, 'main')).not.toContain('Try again');
    expect(await textOf(tab.page, 'main')).not.toContain('the link is not complete');
    expect(await axeViolations(tab.page)).toEqual([]);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('reports why a running check has no news, and continues automatically', async () => {
    let isRefused = true;
    showcase.reset({
      before: async (path, response) => {
        if (!isRefused || !path.endsWith('/events')) return false;
        response.writeHead(429, { 'content-type': 'application/problem+json', 'retry-after': '1' });
        response.end(JSON.stringify(problem(429, 'At most 20 requests a minute.')));
        return true;
      },
    });
    const running = { ...pingCheck, status: 'pending', completedAt: null, results: { 'fra-1': { result: 'pending' } } };
    showcase.checks.set(pingCheck.testId, running as unknown as Check);
    await open(`/c/${pingCheck.testId}`, '0 of 1 finished');
    await untilText(tab.page, 'At most 20 requests a minute. Trying again');
    expect(await axeViolations(tab.page)).toEqual([]);

    isRefused = false;
    showcase.show(pingCheck);

    await untilText(tab.page, 'probes agree');
    expect(await tab.page.evaluate(`document.querySelector('.trouble')`)).toBeNull();
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('reports why a completed check has no verdict, until it has one', async () => {
    let isRefused = true;
    showcase.reset({
      before: async (path, response) => {
        if (!isRefused || !path.endsWith('/summary')) return false;
        response.writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': '1' });
        response.end(JSON.stringify(problem(503, 'The store cannot be reached.')));
        return true;
      },
    });
    await open(`/c/${pingCheck.testId}`, 'All 13 probes are done.');
    await untilText(tab.page, 'The store cannot be reached. Trying again');

    isRefused = false;

    await untilText(tab.page, 'probes agree');
    expect(await tab.page.evaluate(`document.querySelector('.trouble')`)).toBeNull();
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('keeps the measured results of a running check that the service no longer has', async () => {
    let end = (): void => undefined;
    showcase.reset({
      before: async (path, response) => {
        if (path.endsWith('/events')) end = () => void response.end();
        return false;
      },
    });
    const running = { ...pingCheck, status: 'pending', completedAt: null };
    showcase.checks.set(pingCheck.testId, running as unknown as Check);
    await open(`/c/${pingCheck.testId}`, '13 of 13 finished');

    showcase.checks.delete(pingCheck.testId);
    end();

    await untilText(tab.page, 'There is no such check.');
    expect(await textOf(tab.page, 'main')).toContain('13 of 13 finished');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('has the age of a check while it is open, also if the clock of the browser is wrong', async () => {
    showcase.checks.set(pingCheck.testId, { ...pingCheck, createdAt: new Date().toISOString() });
    await tab.atStart(`{
      const { now } = Date;
      window.aheadMs = 3_600_000;
      Date.now = () => now() + aheadMs;
    }`);
    await open(`/c/${pingCheck.testId}`, 'probes agree');

    expect(await textOf(tab.page, '.result-head .note')).not.toContain('hour');

    await tab.page.evaluate('window.aheadMs += 7_200_000');
    await untilTrue(tab.page, `document.querySelector('.result-head .note').innerText.includes('2 hours ago')`);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('loads what it shows when it is first seen, and says what it cannot have', async () => {
    let isRefused = true;
    showcase.reset({
      before: async (path, response) => {
        if (!isRefused || path !== '/me') return false;
        response.writeHead(429, { 'content-type': 'application/problem+json', 'retry-after': '1' });
        response.end(JSON.stringify(problem(429, 'At most 20 requests a minute.')));
        return true;
      },
    });
    await tab.atStart(`{
      let isHidden = true;
      Object.defineProperty(document, 'hidden', { get: () => isHidden });
      addEventListener('look', () => { isHidden = false; document.dispatchEvent(new Event('visibilitychange')); });
    }`);
    await open('/', 'measured from several places');
    expect(showcase.asked).not.toContain('/probes');

    await tab.page.evaluate(`dispatchEvent(new Event('look'))`);
    await untilText(tab.page, 'measured from 10 of 12 probes');
    await untilText(tab.page, 'Your address cannot be looked up now.');
    isRefused = false;
    await untilText(tab.page, '203.0.113.77');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('says so where a picture is no longer kept', async () => {
    showcase.reset({
      before: async (path, response) => {
        if (path.endsWith('/screenshot')) response.writeHead(404).end();
        return path.endsWith('/screenshot');
      },
    });
    await open(`/c/${httpCheck.testId}`, 'Taken by fra-1');
    await tab.page.evaluate(`document.querySelector('.picture').scrollIntoView()`);

    await untilText(tab.page, 'The screenshot cannot be shown');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('says below a picture at which limit it was cut', async () => {
    const screenshot: Screenshot = { state: 'taken', probe: 'fra-1', reason: null, cutAt: ['hosts'] };
    const summary = summarize(httpCheck, new Map(Object.entries(world)), { screenshot });
    showcase.reset({
      before: async (path, response) => {
        if (path.endsWith('/summary'))
          response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(summary));
        return path.endsWith('/summary');
      },
    });
    await open(`/c/${httpCheck.testId}`, 'Taken by fra-1');

    await untilTrue(tab.page, `document.querySelector('.picture p.note')?.textContent.includes('limit of hosts')`);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('stays below the path of its base address', async () => {
    const below = await startShowcase({ basePath: '/net/diag' });
    await tab.page.goto(`${below.url}/`);
    await untilText(tab.page, 'measured from 10 of 12 probes');
    await tab.page.type('#host', 'https://www.example.com/');
    await tab.page.keyboard.press('Enter');
    await untilText(tab.page, 'probes agree');

    expect(tab.page.url()).toBe(`${below.url}/c/${pingCheck.testId}`);
    expect(below.posted).toEqual([{ type: 'http', host: 'https://www.example.com/' }]);
    expect(below.asked).not.toContain('');
    await tab.page.goBack();
    await untilText(tab.page, 'measured from 10 of 12 probes');
    expect(await textOf(tab.page, '.recent li')).toContain('www.example.com');
    below.close();
  });

  itInBrowser('shows a check though its code comes between two steps of a slow browser', async () => {
    await tab.clearCache();
    const { promise: isWanted, resolve: letCode } = Promise.withResolvers<void>();
    showcase.reset({
      before: async (path) => {
        if (/Check-.*\.js$/.test(path)) await isWanted;
        return false;
      },
    });
    // Delays animation frames and their fallback timer, so that effects run late.
    await tab.atStart(`{
      const soon = window.setTimeout;
      window.requestAnimationFrame = (run) => soon(run, 1500);
      window.setTimeout = (run, ms, ...rest) => soon(run, ms > 20 && ms <= 100 ? 1500 : ms, ...rest);
    }`);
    await open('/', 'measured from 10 of 12 probes');
    while (!showcase.asked.some((path) => path.includes('/Check-'))) await sleep(20);
    await tab.page.type('#host', 'https://www.example.com/');
    await tab.page.keyboard.press('Enter');
    await untilTrue(tab.page, `document.querySelector('main[aria-busy]') !== null`);
    letCode();

    await untilText(tab.page, 'probes agree');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('shows a check though its code does not come at once', async () => {
    await tab.clearCache();
    let refused = 0;
    showcase.reset({
      before: async (path, response) => {
        if (!/Check-.*\.js$/.test(path) || refused === 2) return false;
        refused += 1;
        response.writeHead(503).end();
        return true;
      },
    });

    await open(`/c/${pingCheck.testId}`, 'probes agree');

    expect(refused).toBe(2);
  });

  itInBrowser('remembers checks and colours in the browser alone', async () => {
    await open(`/c/${pingCheck.testId}`, 'probes agree');
    await untilTrue(tab.page, `localStorage.getItem('vantage.recent')?.includes('"verdict":"partial"')`);
    await tab.page.click('.theme');
    await tab.page.click('.theme');
    await untilTrue(tab.page, `localStorage.getItem('vantage.theme') === 'dark'`);
    await open('/', 'measured from 10 of 12 probes');

    expect(await tab.page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    await untilTrue(tab.page, `document.querySelector('.recent li').innerText.includes('partial')`);
    await tab.page.click('.recent li button');
    await untilText(tab.page, 'The list stays in this browser.');
    expect(await tab.page.evaluate('document.cookie')).toBe('');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('sorts the probes, failures and missing values included', async () => {
    await open(`/c/${pingCheck.testId}`, 'probes agree');
    // The table grows over several frames.
    const count = `[...document.querySelectorAll('h2')].map((e) => /^(\\d+) probes$/.exec(e.innerText)?.[1]).find(Boolean)`;
    await untilTrue(tab.page, `document.querySelectorAll('[data-probe]').length === Number(${count})`);
    const order = (): Promise<unknown> =>
      tab.page.evaluate(`[...document.querySelectorAll('[data-probe]')].map((row) => row.dataset.probe)`);
    const sort = async (title: string, direction: string): Promise<unknown> => {
      await tab.page.evaluate(
        `[...document.querySelectorAll('.sort')].find((e) => e.innerText.trim() === '${title}').click()`,
      );
      await untilTrue(tab.page, `document.querySelector('[aria-sort=${direction}]')?.innerText.trim() === '${title}'`);
      return await order();
    };

    const ascending = (await sort('Average', 'ascending')) as string[];
    expect(ascending.slice(0, 2)).toEqual(['fra-1', 'ams-1']);
    expect(ascending.slice(-3)).toEqual(['syd-1', 'gru-1', 'jnb-1']);
    const descending = (await sort('Average', 'descending')) as string[];
    expect(descending[0]).toBe('syd-1');
    expect(descending.slice(-2)).toEqual(['gru-1', 'jnb-1']);
    expect(((await sort('Outcome', 'ascending')) as string[]).slice(0, 2)).toEqual(['jnb-1', 'gru-1']);
  });

  itInBrowser('puts the check on the clipboard as it is wanted', async () => {
    await tab.page.browserContext().overridePermissions(showcase.url, ['clipboard-read', 'clipboard-write']);
    await open(`/c/${pingCheck.testId}`, 'probes agree');
    const copied = async (name: string): Promise<string> => {
      await tab.page.click(`[aria-label="${name}"]`);
      await untilTrue(
        tab.page,
        `[...document.querySelectorAll('[role=status]')].some((e) => / copied\\.$/.test(e.textContent))`,
      );
      return String(await tab.page.evaluate('navigator.clipboard.readText()'));
    };

    expect(await copied('Copy the link to this check')).toBe(`${showcase.url}/c/${pingCheck.testId}`);
  });

  itInBrowser('leads to the JSON where there are no scripts', async () => {
    tab.spend();
    await tab.page.setJavaScriptEnabled(false);
    await tab.page.goto(`${showcase.url}/c/${pingCheck.testId}`);

    const links = await tab.page.$$eval('a', (all) => all.map((link) => link.getAttribute('href')));
    expect(links).toEqual(expect.arrayContaining(['/docs', '/openapi.json', `/check/${pingCheck.testId}/results`]));
  });

  it('is at most 80 KiB on its first load', () => {
    const folder = new URL('../dist/page/assets/', import.meta.url);
    const document = readFileSync(new URL('../index.html', folder), 'utf8');
    const files = [...document.matchAll(/\.\/(assets\/[^"]+|theme\.js|icon\.svg)/g)].map(([, file]) => file!);
    const sizes = files.map((file) => {
      const name = file.endsWith('.woff2') ? file : `${file}.gz`;
      return readFileSync(new URL(`../${name}`, folder)).length;
    });

    // The bundler may split the script.
    expect(files.length).toBeGreaterThanOrEqual(5);
    // The document is counted uncompressed.
    expect(sizes.reduce((sum, size) => sum + size, document.length)).toBeLessThan(80 * 1024);
  });
});
