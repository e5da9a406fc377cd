import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import {
  CONTENT,
  lateAnswers,
  latePages,
  restlessPages,
  unloadedPage,
  type LatePage,
} from '@vantage/test-support/browser/late-pages';
import { browserFolder, browserHere, type BrowserFolder } from '@vantage/test-support/browser/needs';
import { readPng } from '@vantage/test-support/browser/png';
import { admitSite, startSite, type Site } from '@vantage/test-support/browser/site';
import { itNeeding } from '@vantage/test-support/needs';
import { openSharedBrowser, type SharedBrowser } from '../../../test/shared-browser.ts';
import { createScreenshots, type Screenshots } from '../screenshots.ts';

const browser = browserHere(process.env['PATH']);
const itWithBrowser = itNeeding(browser.missing, process.env['CI']);

/** These pages are shown by a whole screenshot, which counts the web sockets and the bytes of the page. */
const wholeScreenshots = new Set(['after an API call of 2000 ms', 'with the first message of a WebSocket', 'a stream']);
/** Number of browsers that show the other pages, one at a time. */
const AT_ONCE = 2;

const pages = [...latePages, ...restlessPages, unloadedPage];
const isWhole = (page: LatePage): boolean => page === unloadedPage || wholeScreenshots.has(page.name);

let folder: BrowserFolder;
let site: Site;
let screenshots: Screenshots;
let browsers: readonly SharedBrowser[] = [];
/** Colour of each page's screenshot, or why there is none. */
const colours = new Map<LatePage, Promise<readonly number[] | string>>();

beforeAll(async () => {
  folder = await browserFolder();
  const html = Object.fromEntries(pages.map((page, index) => [`/${index}`, page.html]));
  site = await startSite({ ...html, ...lateAnswers });
  const { executablePath } = browser;
  screenshots = createScreenshots({ executablePath, tempFolder: folder.path, admit: admitSite([site.port]) });
  if (browser.missing !== null) return;
  const open = (): Promise<SharedBrowser> => openSharedBrowser(executablePath, folder.path, [site.port]);
  browsers = await Promise.all(Array.from({ length: AT_ONCE }, open));
  const others = pages.filter((page) => !isWhole(page));
  takeInTurn([unloadedPage, ...pages.filter((page) => isWhole(page) && page !== unloadedPage)], screenshotOf);
  for (const [lane, { screenshotOf }] of browsers.entries()) {
    takeInTurn(
      others.filter((_page, index) => index % AT_ONCE === lane),
      (url) => screenshotOf(url, 30_000),
    );
  }
});

afterAll(async () => {
  await Promise.all([screenshots.close(), ...browsers.map((one) => one.close())]);
  await site.close();
  folder.remove();
});

/** Shows pages one after the other, while others are shown in other browsers: a screenshot mostly waits for its page. */
function takeInTurn(some: readonly LatePage[], take: (url: string, page: LatePage) => Promise<Uint8Array>): void {
  let before: Promise<unknown> = Promise.resolve();
  for (const page of some) {
    const colour = before.then(async () => {
      const png = await take(`${site.origin}/${pages.indexOf(page)}`, page);
      return readPng(Buffer.from(png)).pixel(600, 700);
    });
    colours.set(page, colour.catch(String));
    before = colours.get(page)!;
  }
}

async function screenshotOf(url: string, page: LatePage): Promise<Uint8Array> {
  const { png, failure } = await screenshots.capture({
    url,
    insecureSSL: false,
    userAgent: 'Vantage-Test/0',
    signal: AbortSignal.timeout(280_000),
    timeoutMs: 240_000,
    loadMs: page === unloadedPage ? 8_000 : 30_000,
  });
  if (png === null) throw new Error(failure.message);
  return png;
}

describe('the screenshot of a page whose content comes', () => {
  for (const page of latePages) {
    itWithBrowser(`${page.name} shows the content`, async () => {
      expect(await colours.get(page)).toEqual(CONTENT);
    });
  }
});

describe('the screenshot of a page that is never quiet for', () => {
  for (const page of restlessPages) {
    itWithBrowser(`${page.name} shows the content`, async () => {
      expect(await colours.get(page)).toEqual(CONTENT);
    });
  }

  itWithBrowser(`${unloadedPage.name} shows the content`, async () => {
    expect(await colours.get(unloadedPage)).toEqual(CONTENT);
  });
});
