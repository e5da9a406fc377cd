import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

import { until } from '@vantage/test-support/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, type CheckOf, type Client } from '@vantage/client';
import { findBrowser } from '@vantage/diagnostics';

import { untilText, untilTrue } from '../../web/test/browser.ts';
import { openSuiteBrowser } from '../../web/test/suite-browser.ts';
import { validatingFetch, type ValidatingFetch } from '../test/validating-fetch.ts';
import { startService, temporaryFolder, type Service } from '../test/service.ts';

// In CI the tests run without a browser too, and fail: none may be skipped.
const isMissing = findBrowser(process.env['PATH']) === undefined && process.env['CI'] === undefined;

/** Time limit of a wait, for a browser on a busy machine. */
const WAIT_LIMIT_MS = 300_000;

(isMissing ? describe.skip : describe)('screenshots by the whole service', () => {
  const data = temporaryFolder();
  let service: Service;
  let conformance: ValidatingFetch;
  let client: Client;
  let site: Server;
  /** Open responses, which the test ends. */
  let held: ServerResponse[];

  beforeAll(async () => {
    held = [];
    site = createServer((request, response) => {
      const style = request.url === '/held' ? '<link rel="stylesheet" href="/held.css">' : '';
      response.setHeader('Content-Type', 'text/html');
      if (request.url === '/held.css') held.push(response);
      else response.end(`<!doctype html>${style}<body style="background: rgb(10, 20, 30)">Hello`);
    }).listen(0, '127.0.0.1');
    await once(site, 'listening');
    // One probe takes screenshots and one replaces it; more browsers would only add load.
    const flags = ['--probes', '2', '--allow', '127.0.0.0/8', '--rate-limit', '1000000'];
    service = await startService(`${data.folder}/data`, flags, { SCREENSHOTS: 'on' });
    conformance = await validatingFetch(service.url);
    client = createClient({ baseUrl: service.url, fetch: conformance.fetch });
    // A self-test that fails on a busy machine is repeated later.
    await until(async () => Object.values(await client.probes()).every(canTakePictures));
  }, 3 * WAIT_LIMIT_MS);

  afterAll(async () => {
    const status = await service?.stop();
    site?.closeAllConnections();
    site?.close();
    data.remove();
    expect(status).toBe(0);
  }, WAIT_LIMIT_MS);

  const urlOf = (path: string): string => `http://127.0.0.1:${(site.address() as AddressInfo).port}${path}`;

  const isCompleted = async (check: string): Promise<boolean> => (await client.results(check)).status === 'completed';

  /** Answers what browsers wait for, and waits for the end of the check. */
  async function releaseUntilCompleted(id: string): Promise<CheckOf<'http'>> {
    for (const response of held.splice(0)) response.setHeader('Content-Type', 'text/css').end('');
    let check: CheckOf<'http'>;
    await until(async () => (check = await client.results<'http'>(id, { waitSeconds: 20 })).status === 'completed');
    return check!;
  }

  it(
    'are in exactly one result, and at their address',
    async () => {
      let check: CheckOf<'http'> | undefined;
      // On a busy machine the browser may take longer than a check waits for it.
      await until(async () => picturesOf((check = await client.check({ type: 'http', host: urlOf('/') }))).length > 0);

      expect(Object.values(check!.results).map(({ result }) => result)).toEqual(['success', 'success']);
      const pictures = picturesOf(check!);
      expect(pictures).toHaveLength(1);
      const png = Buffer.from(pictures[0]!, 'base64');
      expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1280, 800]);
      const alone = await fetch(`${service.url}/check/${check!.testId}/screenshot`);
      expect(alone.headers.get('Content-Type')).toBe('image/png');
      expect(Buffer.from(await alone.arrayBuffer())).toEqual(png);
      expect(alone.headers.get('Cache-Control')).toMatch(/^public, .*immutable$/);
    },
    WAIT_LIMIT_MS,
  );

  it(
    'are shown on the page of their check',
    async () => {
      const { url } = service;
      const browser = await openSuiteBrowser();
      const tab = await browser.openTab(url);
      await tab.page.goto(`${url}/?type=http&host=${encodeURIComponent(urlOf('/'))}`);
      await untilText(tab.page, 'measured from 2 probes');
      await tab.page.focus('#host');
      await tab.page.keyboard.press('Enter');

      await untilText(tab.page, 'Taken by demo-');
      await tab.page.evaluate(`document.querySelector('.picture img').scrollIntoView()`);
      await untilTrue(tab.page, `document.querySelector('.picture img').naturalWidth === 1280`);
      expect(tab.faults).toEqual([]);
      await browser.close();
    },
    WAIT_LIMIT_MS,
  );

  it(
    'are not waited for by the results',
    async () => {
      let pictures: readonly string[] = [];
      // On a busy machine the browser may take longer than a check waits for it.
      while (pictures.length === 0) {
        const { checkId } = await client.startCheck({ type: 'http', host: urlOf('/held') });
        let check: CheckOf<'http'> | undefined;
        await until(async () => {
          check = await client.results<'http'>(checkId);
          return Object.values(check.results).every(({ result }) => result !== 'pending');
        });

        expect(check).toMatchObject({ status: 'pending', completedAt: null });
        expect(picturesOf(check!)).toEqual([]);
        const early = await conformance.fetch(`${service.url}/check/${checkId}/screenshot`);
        expect([early.status, await early.text()]).toEqual([404, expect.stringContaining('not taken yet')]);

        await until(async () => held.length > 0 || (await isCompleted(checkId)));
        pictures = picturesOf(await releaseUntilCompleted(checkId));
      }
      expect(pictures).toHaveLength(1);
    },
    WAIT_LIMIT_MS,
  );

  it(
    'are taken by another probe when the agent of the first is killed, whose browser dies with it',
    async () => {
      for (let pictures: readonly string[] = []; pictures.length === 0;) {
        await until(async () => Object.values(await client.probes()).every(canTakePictures));
        const { checkId } = await client.startCheck({ type: 'http', host: urlOf('/held') });
        await until(async () => held.length > 0 || (await isCompleted(checkId)));
        if (held.length === 0) continue;
        const [name, pid, browser] = await screenshotProbe(service);

        process.kill(pid, 'SIGKILL');

        await until(async () => statOf(browser) === '');
        await until(async () => held.length > 1 || (await isCompleted(checkId)));
        const check = await releaseUntilCompleted(checkId);
        pictures = picturesOf(check);
        expect(pictures.length).toBeLessThan(2);
        expect(check.results[name]).not.toHaveProperty('screenshot');
      }
    },
    WAIT_LIMIT_MS,
  );

  it(
    'are not taken without a request',
    async () => {
      const check = await client.check({ type: 'http', host: urlOf('/'), options: { screenshot: false } });

      expect(picturesOf(check)).toEqual([]);
      const none = await conformance.fetch(`${service.url}/check/${check.testId}/screenshot`);
      expect([none.status, await none.text()]).toEqual([404, expect.stringContaining('takes no screenshot')]);
    },
    WAIT_LIMIT_MS,
  );

  it('are as the OpenAPI document says', () => {
    expect(conformance.violations).toEqual([]);
  });
});

function canTakePictures(probe: { readonly capabilities: { readonly screenshot: boolean } | null }): boolean {
  return probe.capabilities?.screenshot === true;
}

function picturesOf(check: CheckOf<'http'>): readonly string[] {
  return Object.values(check.results).flatMap(({ screenshot }) => screenshot ?? []);
}

/** The agent that runs a browser, and the browser. */
async function screenshotProbe(service: Service): Promise<readonly [name: string, pid: number, browser: number]> {
  let found: readonly [string, number, number] | undefined;
  await until(async () => {
    for (const [name, pid] of Object.entries(service.running().processes)) {
      const browser = childrenOf(pid).find((child) => read(`/proc/${child}/cmdline`).includes('--user-data-dir='));
      if (browser !== undefined) found = [name, pid, browser];
    }
    return found !== undefined;
  });
  return found!;
}

function childrenOf(pid: number): readonly number[] {
  return read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
}

/** Stat line of a process; empty if it has exited or is a zombie. */
function statOf(pid: number): string {
  const stat = read(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z') ? '' : stat;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
