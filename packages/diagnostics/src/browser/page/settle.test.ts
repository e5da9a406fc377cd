import { afterAll, beforeAll, describe, expect, jest } from '@jest/globals';

import { CONTENT, lateAnswers, latePages, restlessPages, unloadedPage } from '../../../test/browser-late-pages.ts';
import { browserFolder, browserHere, type BrowserFolder } from '../../../test/browser-needs.ts';
import { readPng } from '../../../test/browser-png.ts';
import { admitSite, startSite, type Site } from '../../../test/browser-site.ts';
import { itNeeding } from '../../../test/needs.ts';
import { createScreenshots, type Screenshots } from '../screenshots.ts';

jest.setTimeout(120_000);

const browser = browserHere(process.env['PATH']);
const itWithBrowser = itNeeding(browser.missing, process.env['CI']);

const pages = [...latePages, ...restlessPages, unloadedPage];

let folder: BrowserFolder;
let site: Site;
let screenshots: Screenshots;

beforeAll(async () => {
  folder = await browserFolder();
  const html = Object.fromEntries(pages.map((page, index) => [`/${index}`, page.html]));
  site = await startSite({ ...html, ...lateAnswers });
  const { executablePath } = browser;
  screenshots = createScreenshots({ executablePath, tempFolder: folder.path, admit: admitSite([site.port]) });
});

afterAll(async () => {
  await screenshots.close();
  await site.close();
  folder.remove();
});

/** The colour of the page in its picture, or why there is none. */
async function colourOf(name: string, loadMs = 30_000): Promise<readonly number[] | string> {
  const { png, failure } = await screenshots.capture({
    url: `${site.origin}/${pages.findIndex((page) => page.name === name)}`,
    insecureSSL: false,
    userAgent: 'Vantage-Test/0',
    signal: AbortSignal.timeout(100_000),
    timeoutMs: 90_000,
    loadMs,
  });
  return png === null ? failure.message : readPng(png).pixel(600, 700);
}

describe('the picture of a page whose content comes', () => {
  for (const { name } of latePages) {
    itWithBrowser(`${name} shows the content`, async () => {
      expect(await colourOf(name)).toEqual(CONTENT);
    });
  }
});

describe('the picture of a page that is never quiet for', () => {
  for (const { name } of restlessPages) {
    itWithBrowser(`${name} shows the content`, async () => {
      expect(await colourOf(name)).toEqual(CONTENT);
    });
  }

  itWithBrowser(`${unloadedPage.name} shows the content`, async () => {
    expect(await colourOf(unloadedPage.name, 8_000)).toEqual(CONTENT);
  });
});
