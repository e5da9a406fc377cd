import type { ServerResponse } from 'node:http';

import { afterAll, afterEach, beforeAll, describe, expect, jest } from '@jest/globals';
import type { Check, Monitor, MonitorInList } from '@vantage/contract';

import { axeViolations, colourViolations } from './axe.ts';
import { here, textOf, untilText, untilTrue, WAIT_LIMIT_MS } from './browser.ts';
import { itInBrowser } from './it-in-browser.ts';
import { problem } from './showcase-answers.ts';
import { startShowcase, type Showcase } from './showcase.ts';
import { openSuiteBrowser, type SuiteBrowser, type SuiteTab } from './suite-browser.ts';
import { pingCheck, tracerouteCheck } from './world.ts';
import { inList, monitorAfter, newMonitor, OUT_FROM_TICK, pathAfter, pathMonitor } from './world/monitors.ts';

jest.setTimeout(4 * WAIT_LIMIT_MS);

const key = `vtg_abcd1234_${'a'.repeat(43)}`;
const bad = monitorAfter(99);

describe('monitors on the page', () => {
  let browser: SuiteBrowser | undefined;
  let showcase: Showcase;
  /** The showcase of the tests that need no base path. */
  let atRoot: Showcase;
  let tab: SuiteTab;
  let monitors: Map<string, Monitor>;
  /** Monitors that the server lists besides `monitors`. */
  let others: readonly MonitorInList[];
  let followers: Set<ServerResponse>;
  /** Requests with `PUT` and `DELETE`. */
  let written: { readonly what: string; readonly body: unknown }[];
  let answer: { readonly status: number; readonly body: object };

  beforeAll(async () => {
    atRoot = await startShowcase();
    if (here.missing === null) browser = await openSuiteBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    atRoot.close();
  });
  afterEach(async () => {
    await tab?.close();
    if (showcase !== atRoot) showcase?.close();
  });

  async function start(given: readonly Monitor[] = [bad], basePath = ''): Promise<void> {
    monitors = new Map(given.map((monitor) => [monitor.name, monitor]));
    [followers, written] = [new Set(), []];
    others = given.length === 0 ? [] : [newMonitor];
    answer = { status: 201, body: {} };
    atRoot.reset({ before: serveMonitors });
    showcase = basePath === '' ? atRoot : await startShowcase({ basePath, before: serveMonitors });
    tab = await browser!.openTab(showcase.url);
  }

  async function serveMonitors(path: string, response: ServerResponse): Promise<boolean> {
    const [, name, what] = /^\/monitors(?:\/([\w-]+)(\/events)?)?$/.exec(path) ?? [path];
    if (!path.startsWith('/monitors')) return false;
    const { method = 'GET' } = response.req;
    if (method !== 'GET') {
      let text = '';
      for await (const chunk of response.req) text += String(chunk);
      written.push({ what: `${method} ${path}`, body: text === '' ? null : JSON.parse(text) });
      if (answer.status === 204) monitors.delete(name!);
      if (answer.status < 300 && method === 'PUT') monitors.set(name!, { ...bad, name: name! });
      return send(response, answer.status, answer.body);
    }
    if (name === undefined) {
      const list = [...monitors.values()].map((monitor): [string, unknown] => [monitor.name, inList(monitor)]);
      return send(response, 200, Object.fromEntries([...list, ...others.map((other) => [other.name, other])]));
    }
    const monitor = monitors.get(name);
    if (monitor === undefined) return send(response, 404, problem(404, 'There is no monitor with this name.'));
    if (what === undefined) return send(response, 200, monitor);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`id: 0-0\nevent: monitor\ndata: ${JSON.stringify(inList(monitor))}\n\n`);
    followers.add(response);
    return true;
  }

  function send(response: ServerResponse, status: number, body: object): boolean {
    const type = status >= 400 ? 'application/problem+json' : 'application/json';
    response.writeHead(status, { 'content-type': type }).end(status === 204 ? undefined : JSON.stringify(body));
    return true;
  }

  async function open(path: string, text: string): Promise<void> {
    await tab.page.goto(`${showcase.url}${path}`);
    await untilText(tab.page, text);
  }

  const bars = (probe: number, state: string): string =>
    `document.querySelectorAll('.run-rows li:nth-child(${probe}) rect.${state}').length`;

  for (const [name, path, text] of [
    ['the list', '/m', 'Port 443 of www.example.com is open'],
    ['one that is bad', '/m/web', 'Paths when it turned bad: '],
    ['one whose paths changed', '/m/paths', 'All 12 path changes'],
    ['one that is not there', '/m/other', 'No such monitor'],
  ] as const) {
    itInBrowser(`can be used by everyone, fit a phone and break no policy: ${name}`, async () => {
      await start([bad, pathMonitor, { ...monitorAfter(20), name: 'other-site', owner: 'file' }]);
      await tab.page.setViewport({ width: 390, height: 900 });
      await open(path, text);
      for (const [scheme, width] of [
        ['dark', 390],
        ['light', 1280],
      ] as const) {
        await tab.page.setViewport({ width, height: 900 });
        await tab.page.emulateMediaFeatures([
          { name: 'prefers-color-scheme', value: scheme },
          { name: 'prefers-reduced-motion', value: 'reduce' },
        ]);
        expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        expect(await (width === 390 ? axeViolations : colourViolations)(tab.page)).toEqual([]);
      }
      expect(tab.faults).toEqual([]);
    });
  }

  itInBrowser('say what is loading, and have a heading by then', async () => {
    // These requests get no response.
    showcase = atRoot;
    showcase.reset({ before: async (path) => /^\/(?:monitors|check)\//.test(path) });
    tab = await browser!.openTab(showcase.url);
    for (const [path, text] of [
      [`/m/${bad.name}`, 'Loading the monitor'],
      [`/c/${pingCheck.testId}`, 'Loading the check'],
    ] as const) {
      await tab.page.goto(`${showcase.url}${path}`);
      await untilText(tab.page, text);
      expect(await axeViolations(tab.page)).toEqual([]);
    }
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('are not counted if there are none', async () => {
    await start([]);
    await open('/m', 'There are no monitors.');

    expect(await textOf(tab.page, 'main')).not.toMatch(/\d (?:bad|ok|unknown)/);
    expect(await axeViolations(tab.page)).toEqual([]);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('have a list, bad ones first, that leads to each', async () => {
    await start([{ ...monitorAfter(20), name: 'a-site' }, bad], '/net');
    await open('/', 'measured from 10 of 12 probes');

    await tab.page.evaluate(`[...document.querySelectorAll('nav a')].find((e) => e.innerText === 'Monitors').click()`);
    await untilText(tab.page, '1 bad, 1 ok, 1 unknown');
    const names = await tab.page.evaluate(`[...document.querySelectorAll('.monitor-list h2')].map((e) => e.innerText)`);
    await tab.page.evaluate(`document.querySelector('.monitor-list h2 a').click()`);
    await untilText(tab.page, 'does not answer from 3 of 5 probes');

    expect(names).toEqual(['web', 'new', 'a-site']);
    expect(tab.page.url()).toBe(`${showcase.url}/m/web`);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('have a long list of which a part is shown, and that can be searched', async () => {
    const others = Array.from({ length: 60 }, (_, index) => ({ ...monitorAfter(20), name: `site-${index}` }));
    await start([...others, bad]);
    await open('/m', '1 bad, 60 ok, 1 unknown');
    const cards = (): Promise<unknown> => tab.page.evaluate(`document.querySelectorAll('.monitor-list > li').length`);
    const card = (index: number): Promise<unknown> =>
      tab.page.evaluate(`document.querySelectorAll('.monitor-list > li')[${index}].innerText`);
    const first = await cards();
    await tab.page.click('button.rest');
    await untilTrue(tab.page, `document.querySelectorAll('.monitor-list > li').length > ${String(first)}`);

    // Healthy probes are counted, others are named.
    expect(await card(0)).toContain('fra-1, failing');
    expect(await card(2)).not.toContain('fra-1');
    expect(await card(2)).toContain('4 other probes, ok');
    expect(await axeViolations(tab.page)).toEqual([]);

    await tab.page.type('#seek', 'SITE-42');
    await untilText(tab.page, '1 monitor');
    await untilTrue(tab.page, `document.querySelectorAll('.monitor-list > li').length === 1`);
    expect(await card(0)).toContain('site-42');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('show each place over the runs, the moment of change and where the paths end', async () => {
    await start();
    await open('/m/web', 'Paths when it turned bad: ');
    await untilTrue(tab.page, `document.querySelector('.breaks').innerText.length > 60`);

    const failed = 99 - OUT_FROM_TICK + 1;
    expect(await tab.page.evaluate(`[${bars(1, 'failing')}, ${bars(1, 'ok')}]`)).toEqual([failed, 99 - failed]);
    expect(await tab.page.evaluate(`document.querySelectorAll('.run-bars .change').length`)).toBe(5);
    expect(
      await tab.page.evaluate(
        `document.querySelector('.run-rows li:nth-child(1) .run-bars').getAttribute('aria-label')`,
      ),
    ).toBe(`99 runs: ${99 - failed} ok, ${failed} failing, 0 unmeasured`);
    const text = String(await tab.page.evaluate('document.body.innerText'));
    expect(text).toContain('3 of 4 probes that count fail, in 3 networks and 3 countries; an alarm takes 3');
    expect(text).toContain('3 of 5 probes, in 2 networks, at 2 ticks in a row');
    expect(text).toContain('flapping');

    await tab.page.evaluate(
      `document.querySelector('.run-rows rect.failing').dispatchEvent(new MouseEvent('click', { bubbles: true }))`,
    );
    await untilTrue(tab.page, `location.pathname === '/c/${pingCheck.testId}'`);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('name the locations without a probe, in the list, at the state and at each run', async () => {
    const emptyLocations = ['rack-7', 'Japan'];
    const [last, ...earlier] = bad.runs;
    await start([{ ...bad, emptyLocations, runs: [{ ...last!, emptyLocations }, ...earlier] }]);
    await open('/m', 'No probe at “rack-7” or “Japan”');
    await open('/m/web', 'No probe at “rack-7” or “Japan”: it runs from the other locations');

    const rows = await tab.page.evaluate(
      `[...document.querySelectorAll('.runs li')].slice(0, 2).map((e) => e.innerText)`,
    );
    expect(rows).toEqual([expect.stringContaining('No probe at'), expect.not.stringContaining('No probe at')]);
    expect(await axeViolations(tab.page)).toEqual([]);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('list past changes of the path, with the comparison of checks that are kept', async () => {
    await start([pathMonitor, { ...pathMonitor, name: 'steady', lastPathChangeAt: null, pathChanges: [] }]);
    showcase.checks.set(pathAfter.testId, pathAfter);
    await open('/m', 'path changed');
    expect(await tab.page.evaluate(`document.body.innerText.split('path changed').length`)).toBe(2);
    await open('/m/steady', 'None so far');
    await open('/m/paths', 'All 12 path changes');
    const rows = `[...document.querySelectorAll('.path-changes li li')].map((e) => e.innerText)`;
    const links = `document.querySelectorAll('.path-changes a').length`;
    const [first, second, third] = (await tab.page.evaluate(rows)) as readonly string[];
    expect(first).toMatch(
      /^Path at hop 3: .*interface\.\s+path · from \S+, \S+ · no longer over AS65536, newly over AS65537\s+Compare$/,
    );
    expect(second).toMatch(/fewer ways of a load balancer\.\s+load balancer · from \S+$/);
    expect(third).toMatch(/^Other changes from \S+, \S+$/);
    expect(await tab.page.evaluate(links)).toBe(3);
    const marks = `[...document.querySelectorAll('.run-bars')].map((e) => e.querySelectorAll('.moved').length)`;
    const ofProbes = ['ams-1', 'fra-1', 'lhr-1', 'mad-1', 'waw-1'].map(
      (probe) => pathMonitor.pathChanges.filter(({ probes }) => probes.includes(probe)).length,
    );
    expect(await tab.page.evaluate(marks)).toEqual(ofProbes);
    expect(await textOf(tab.page, '.run-rows .note')).toContain('Dashed line: path changed.');

    await tab.page.click('.path-changes button');
    await untilTrue(tab.page, `document.querySelectorAll('.path-changes > ul > li').length === 12`);
    expect(await tab.page.evaluate(links)).toBe(3);
    await tab.page.click('.path-changes a');
    await untilTrue(tab.page, `location.pathname === '/c/${tracerouteCheck.testId}/compare/${pathAfter.testId}'`);
    await untilText(tab.page, 'Nothing differs');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('change while one looks, and say so when they are removed', async () => {
    await start([monitorAfter(OUT_FROM_TICK)]);
    await open('/m/web', 'is open from all 5 probes');
    await untilTrue(tab.page, `${bars(1, 'failing')} === 1`);

    monitors.set('web', monitorAfter(OUT_FROM_TICK + 1));
    const run = `event: run\ndata: ${JSON.stringify(monitorAfter(OUT_FROM_TICK + 1).runs[0])}\n\n`;
    for (const response of followers) response.write(run);
    await untilText(tab.page, 'does not answer from 3 of 5 probes');
    await untilTrue(tab.page, `${bars(1, 'failing')} === 2`);
    monitors.clear();
    for (const response of followers) response.end();

    await untilText(tab.page, 'No such monitor');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('are removed with a key, after a second press', async () => {
    await start();
    await tab.atStart(`sessionStorage.setItem('vantage.key', '${key}')`);
    answer = { status: 204, body: {} };
    await open('/m/web', 'does not answer from 3 of 5 probes');

    await tab.page.click('.remove button');
    await untilText(tab.page, 'Remove it with its runs');
    expect(written).toEqual([]);
    await tab.page.click('.remove button');

    await untilText(tab.page, '0 bad, 0 ok, 1 unknown');
    expect(written).toEqual([{ what: 'DELETE /monitors/web', body: null }]);
  });

  describe('repeat a check', () => {
    const press = (text: string): Promise<unknown> =>
      tab.page.evaluate(
        `[...document.querySelectorAll('button')].find((e) => e.innerText.trim() === '${text}').click()`,
      );
    async function type(selector: string, text: string): Promise<void> {
      await tab.page.$eval(selector, (field) => ((field as unknown as { value: string }).value = ''));
      await tab.page.type(selector, text);
    }

    async function openDialog(withKey: boolean, check: Check = pingCheck): Promise<void> {
      await start();
      showcase.checks.set(check.testId, check);
      if (withKey) await tab.atStart(`sessionStorage.setItem('vantage.key', '${key}')`);
      await open(`/c/${pingCheck.testId}`, 'probes agree');
      await press('Repeat this');
      await untilText(tab.page, 'Repeat this check');
    }

    itInBrowser('with a key: the monitor has its request and opens', async () => {
      await openDialog(true);
      expect(await tab.page.$eval('#repeat-name', (field) => (field as unknown as { value: string }).value)).toMatch(
        /^ping-[a-z-]+$/,
      );
      for (const width of [1280, 390]) {
        await tab.page.setViewport({ width, height: 900 });
        expect(await axeViolations(tab.page)).toEqual([]);
        expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      }

      await type('#repeat-name', 'of-page');
      await type('#repeat-when', '3 of 5');
      await press('Make the monitor');
      await untilTrue(tab.page, `location.pathname === '/m/of-page'`);

      const check = { type: 'ping', host: pingCheck.host, probes: Object.keys(pingCheck.results) };
      expect(written).toEqual([
        {
          what: 'PUT /monitors/of-page',
          body: { check, every: '60s', alarm: { when: '3 of 5', networks: 1 } },
        },
      ]);
      expect(tab.faults).toEqual([]);
    });

    itInBrowser('of a link with its options, and say which are not known', async () => {
      await openDialog(true, { ...pingCheck, request: { options: { count: 8 } } });
      await untilText(tab.page, 'Count 8');
      expect(await textOf(tab.page, 'dialog')).not.toContain('known only where');
      await type('#repeat-name', 'of-page');
      await press('Make the monitor');
      await untilTrue(tab.page, `location.pathname === '/m/of-page'`);
      expect(written).toMatchObject([{ body: { check: { options: { count: 8 } } } }]);

      showcase.checks.set(pingCheck.testId, { ...pingCheck, request: { withheld: ['headers'] } });
      await open(`/c/${pingCheck.testId}`, 'probes agree');
      await press('Repeat this');
      await untilText(tab.page, 'It runs without its headers: they are known only where the check was started.');
      showcase.checks.set(pingCheck.testId, pingCheck);
      await open(`/c/${pingCheck.testId}`, 'probes agree');
      await press('Repeat this');
      await untilText(tab.page, 'It runs with default options: they are known only where the check was started.');
      expect(tab.faults).toEqual([]);
    });

    itInBrowser('never replaces a monitor, and puts each fault at its field', async () => {
      await openDialog(true);
      await type('#repeat-name', 'web');
      await press('Make the monitor');
      await untilText(tab.page, 'There is a monitor with this name already.');
      expect(written).toEqual([]);

      const errors = [{ path: '/every', message: 'must be from 10s to 1d' }];
      answer = { status: 400, body: problem(400, '/every: must be from 10s to 1d', errors) };
      await type('#repeat-name', 'of-page');
      await press('Make the monitor');
      await untilText(tab.page, 'must be from 10s to 1d');

      expect(await tab.page.evaluate(`document.querySelector('#repeat-every').getAttribute('aria-invalid')`)).toBe(
        'true',
      );
      expect(await axeViolations(tab.page)).toEqual([]);
    });

    itInBrowser('without a key says that one is needed', async () => {
      await openDialog(false);

      await untilText(tab.page, 'This needs an API key with the scope monitor.');
      expect(await axeViolations(tab.page)).toEqual([]);
    });
  });
});
