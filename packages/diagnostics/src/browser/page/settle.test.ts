import { afterAll, beforeAll, describe, expect } from '@jest/globals';

import { CONTENT, lateAnswers, latePages, restlessPages, unloadedPage } from '@vantage/test-support/browser/late-pages';
import { browserFolder, browserHere, type BrowserFolder } from '@vantage/test-support/browser/needs';
import { readPng } from '@vantage/test-support/browser/png';
import { admitSite, startSite, type Site } from '@vantage/test-support/browser/site';
import { itNeeding } from '@vantage/test-support/needs';
import { createScreenshots, type Screenshots } from '../screenshots.ts';

const browser = browserHere(process.env['PATH']);
const itWithBrowser = itNeeding(browser.missing, process.env['CI']);

/** Number of browsers, each of which takes one screenshot at a time. */
const AT_ONCE = 3;

const pages = [...latePages, ...restlessPages, unloadedPage];

let folder: BrowserFolder;
let site: Site;
let screenshots: readonly Screenshots[];
/** Colour of each page's screenshot, or why there is none. */
let colours: readonly Promise<readonly number[] | string>[];

beforeAll(async () => {
  folder = await browserFolder();
  const html = Object.fromEntries(pages.map((page, index) => [`/${index}`, page.html]));
  site = await startSite({ ...html, ...lateAnswers });
  const { executablePath } = browser;
  const open = (): Screenshots =>
    createScreenshots({ executablePath, tempFolder: folder.path, admit: admitSite([site.port]) });
  screenshots = Array.from({ length: AT_ONCE }, open);
  if (browser.missing === null) colours = takeAll();
});

afterAll(async () => {
  await Promise.all(screenshots.map((one) => one.close()));
  await site.close();
  folder.remove();
});

/** Captures all pages, in several browsers concurrently, since a capture mostly waits for its page. */
function takeAll(): typeof colours {
  const lanes: Promise<unknown>[] = screenshots.map(() => Promise.resolve());
  return pages.map((page, index) => {
    const lane = index % AT_ONCE;
    const loadMs = page === unloadedPage ? 8_000 : 30_000;
    const colour = lanes[lane]!.then(() => colourOf(screenshots[lane]!, `${site.origin}/${index}`, loadMs));
    const settled = colour.catch(String);
    lanes[lane] = settled;
    return settled;
  });
}

async function colourOf(one: Screenshots, url: string, loadMs: number): Promise<readonly number[] | string> {
  const { png, failure } = await one.capture({
    url,
    insecureSSL: false,
    userAgent: 'Vantage-Test/0',
    signal: AbortSignal.timeout(280_000),
    timeoutMs: 240_000,
    loadMs,
  });
  return png === null ? failure.message : readPng(png).pixel(600, 700);
}

describe('the picture of a page whose content comes', () => {
  for (const page of latePages) {
    itWithBrowser(`${page.name} shows the content`, async () => {
      expect(await colours[pages.indexOf(page)]).toEqual(CONTENT);
    });
  }
});

describe('the picture of a page that is never quiet for', () => {
  for (const page of restlessPages) {
    itWithBrowser(`${page.name} shows the content`, async () => {
      expect(await colours[pages.indexOf(page)]).toEqual(CONTENT);
    });
  }

  itWithBrowser(`${unloadedPage.name} shows the content`, async () => {
    expect(await colours[pages.indexOf(unloadedPage)]).toEqual(CONTENT);
  });
});
