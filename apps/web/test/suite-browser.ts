import type { CDPSession, Page } from 'puppeteer-core';

import { openBrowser, setUp, watchFaults, type Tab, type Watched } from './browser.ts';

/**
 * V8's optimising compilers are off: a page ends before optimised code has saved the CPU time of its compilation.
 * Baseline code is made at once.
 */
const SCRIPTS_ONCE = '--js-flags=--no-turbofan --no-maglev --always-sparkplug';

/**
 * No memory for tiles: pages are laid out, and have their frames, but no pixels are drawn, which takes a quarter of the
 * CPU time of a load. With `SHOTS`, some tests take pictures.
 */
const NOTHING_DRAWN = process.env['SHOTS'] === undefined ? ['--force-gpu-mem-available-mb=0'] : [];

export interface SuiteBrowser {
  /**
   * Opens the tab of the browser, without storage and cookies. Only one may be open at a time. Its cache has the files of
   * the tabs before, so a test that holds back a file calls `clearCache`.
   *
   * @param url base URL of the service: requests to other origins are faults
   */
  readonly openTab: (url: string, width?: number) => Promise<SuiteTab>;
  readonly close: () => Promise<void>;
}

/** The tab of a suite: after `close` the next `openTab` returns the same page, which it has reset. */
export interface SuiteTab extends Tab {
  /** Runs a script at the start of each document of this tab. */
  readonly atStart: (script: string) => Promise<void>;
  readonly clearCache: () => Promise<void>;
  /** For a test that changes what `close` does not reset: the next tab has another page. */
  readonly spend: () => void;
}

/**
 * All tabs are in one context, since contexts do not share a renderer process: in a new one the heap grows from
 * nothing, and the scripts are compiled again. They are one page, since the first load of a page takes half as much CPU
 * time again as a later one.
 */
export async function openSuiteBrowser(): Promise<SuiteBrowser> {
  const flags = ['--renderer-process-limit=1', '--disable-site-isolation-trials', SCRIPTS_ONCE, ...NOTHING_DRAWN];
  const browser = await openBrowser(flags);
  const context = browser.defaultBrowserContext();
  let kept: Kept | undefined;
  const openTab = async (url: string, width = 1280): Promise<SuiteTab> => {
    const tab = (kept ??= await keep(await context.newPage()));
    const { page } = tab;
    [tab.url, tab.faults] = [url, []];
    await setUp(page, width);
    const scripts: string[] = [];
    let isSpent = false;
    const close = async (): Promise<void> => {
      if (isSpent) kept = await keep(await context.newPage());
      // The renderer process ends with its last page.
      for (const other of await context.pages()) if (other !== kept!.page) await other.close();
      if (!isSpent) await leave(tab, scripts);
      await withSession(kept!.page, async (session) => {
        await session.send('Page.resetNavigationHistory');
        await session.send('Storage.clearDataForOrigin', { origin: new URL(url).origin, storageTypes: 'all' });
      });
      await context.clearPermissionOverrides();
    };
    return {
      page,
      faults: tab.faults,
      atStart: async (script) => {
        scripts.push((await page.evaluateOnNewDocument(script)).identifier);
      },
      clearCache: () => withSession(page, (session) => session.send('Network.clearBrowserCache')),
      spend: () => {
        isSpent = true;
      },
      close,
    };
  };
  return { openTab, close: () => browser.close() };
}

interface Kept extends Watched {
  readonly page: Page;
}

async function keep(page: Page): Promise<Kept> {
  const kept: Kept = { page, url: 'about:blank', faults: [] };
  await watchFaults(page, kept);
  return kept;
}

/** Leaves the document of a test, and undoes what the test has set for its page: scripts, storage, media type. */
async function leave({ page }: Kept, scripts: readonly string[]): Promise<void> {
  for (const script of scripts) await page.removeScriptToEvaluateOnNewDocument(script);
  // A blank document has no storage.
  if (page.url() !== 'about:blank') await page.evaluate('sessionStorage.clear()');
  await page.goto('about:blank');
  await page.emulateMediaType();
}

/** A session that stays open would end the emulation of print at the next load. */
async function withSession(page: Page, use: (session: CDPSession) => Promise<unknown>): Promise<void> {
  const session = await page.createCDPSession();
  await use(session);
  await session.detach();
}
