import { afterAll, afterEach, beforeAll, describe, expect, jest } from '@jest/globals';

import { axeViolations } from './axe.ts';
import { here, untilText, untilTrue, WAIT_LIMIT_MS } from './browser.ts';
import { itInBrowser } from './it-in-browser.ts';
import { problem } from './showcase-answers.ts';
import { startShowcase, type Showcase } from './showcase.ts';
import { openSuiteBrowser, type SuiteBrowser, type SuiteTab } from './suite-browser.ts';

jest.setTimeout(4 * WAIT_LIMIT_MS);

const good = `vtg_abcd1234_${'a'.repeat(43)}`;
const reads = `vtg_bcde2345_${'b'.repeat(43)}`;

describe('the API key of the page', () => {
  let browser: SuiteBrowser | undefined;
  let showcase: Showcase;
  let tab: SuiteTab;
  /** Each request to the API with its `Authorization` header. */
  let asked: { readonly what: string; readonly authorization: string | undefined }[];
  let valid: readonly string[];

  beforeAll(async () => {
    showcase = await startShowcase();
    if (here.missing === null) browser = await openSuiteBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    showcase.close();
  });
  afterEach(async () => tab?.close());

  async function start(): Promise<void> {
    asked = [];
    valid = [good, reads];
    showcase.reset({
      before: async (path, response) => {
        const { method, headers } = response.req;
        if (!/^\/(check|probes|me)/.test(path)) return false;
        const { authorization } = headers;
        asked.push({ what: `${method} ${path}`, authorization });
        const refused = authorization !== undefined && !valid.some((key) => authorization === `Bearer ${key}`);
        const lacksScope = authorization === `Bearer ${reads}` && method === 'POST';
        if (!refused && !lacksScope) return false;
        const [status, detail, type] = refused
          ? ([401, 'There is no such API key.', 'unauthorized'] as const)
          : ([403, 'The key reads lacks the scope check.', 'scope-missing'] as const);
        const body = { ...(problem(status, detail) as object), type: `http://127.0.0.1/problems/${type}` };
        response.writeHead(status, { 'content-type': 'application/problem+json' }).end(JSON.stringify(body));
        return true;
      },
    });
    tab = await browser!.openTab(showcase.url);
    await tab.page.goto(`${showcase.url}/`);
    await untilText(tab.page, 'measured from 10 of 12 probes');
  }

  async function enter(key: string): Promise<void> {
    await tab.page.click('[aria-label^="API key"]');
    await tab.page.waitForSelector('dialog[open] #api-key');
    await tab.page.type('#api-key', key);
    await tab.page.keyboard.press('Enter');
  }

  async function startCheck(): Promise<void> {
    await tab.page.type('#host', 'example.com');
    await tab.page.keyboard.press('Enter');
  }

  const isOpen = `(document.querySelector('dialog') !== null)`;
  const name = (part: string): string =>
    `document.querySelector('.top-bar [aria-label^="API key"]').ariaLabel === ${JSON.stringify(part)}`;

  itInBrowser('is sent with every request once it is given, and shown by its prefix only', async () => {
    await start();
    expect(asked.every(({ authorization }) => authorization === undefined)).toBe(true);

    await enter(good);
    await untilTrue(tab.page, `!${isOpen} && ${name('API key: vtg_abcd1234')}`);
    asked.length = 0;
    await startCheck();
    await untilTrue(tab.page, `location.pathname.startsWith('/c/')`);
    await untilText(tab.page, 'probes agree');

    expect(asked.map(({ what }) => what.replace(/[\w-]{22}/, 'ID'))).toEqual(
      expect.arrayContaining(['POST /check', 'GET /check/ID/events', 'GET /check/ID/summary']),
    );
    expect(
      new Set(asked.filter(({ what }) => !what.endsWith('/screenshot')).map(({ authorization }) => authorization)),
    ).toEqual(new Set([`Bearer ${good}`]));
    expect(await tab.page.evaluate('document.documentElement.outerHTML')).not.toContain(good.slice(12));
    expect(await tab.page.evaluate('JSON.stringify(localStorage)')).not.toContain('vtg_');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('outlasts a reload of its tab and is removed on request', async () => {
    await start();
    await enter(good);
    await untilTrue(tab.page, `!${isOpen}`);
    await tab.page.reload();
    await untilTrue(tab.page, name('API key: vtg_abcd1234'));

    await tab.page.click('[aria-label^="API key"]');
    await untilText(tab.page, 'In use: vtg_abcd1234…');
    await tab.page.click('.held-key button');
    await untilTrue(tab.page, name('API key: none'));

    expect(await tab.page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('vtg_');
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('is not taken if the service refuses it; the dialog is for everyone', async () => {
    await start();
    await enter('vtg_no-key');
    await untilText(tab.page, 'This is not a whole API key;');
    await tab.page.evaluate(`document.querySelector('#api-key').value = ''`);
    await tab.page.type('#api-key', `vtg_cdef3456_${'c'.repeat(43)}`);
    await tab.page.keyboard.press('Enter');

    await untilText(tab.page, 'There is no such API key.');
    expect(await axeViolations(tab.page)).toEqual([]);
    await tab.page.setViewport({ width: 390, height: 844 });
    expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await tab.page.keyboard.press('Escape');
    await untilTrue(tab.page, `!${isOpen} && ${name('API key: none')}`);
  });

  itInBrowser('that is removed in the meantime stops no reading, and the form says what is wrong', async () => {
    await start();
    await enter(good);
    await untilTrue(tab.page, `!${isOpen}`);
    valid = [];
    await tab.page.reload();
    await untilText(tab.page, 'measured from 10 of 12 probes');
    await untilTrue(tab.page, name('API key: vtg_abcd1234, refused'));

    await startCheck();

    await untilText(tab.page, 'There is no such API key.');
    expect(showcase.posted).toEqual([]);
  });

  itInBrowser('without the scope to start checks gets the reason, not at the host', async () => {
    await start();
    await enter(reads);
    await untilTrue(tab.page, `!${isOpen}`);

    await startCheck();

    await untilText(tab.page, 'The key reads lacks the scope check.');
    expect(await tab.page.evaluate(`document.querySelector('#host').getAttribute('aria-invalid')`)).not.toBe('true');
  });
});
