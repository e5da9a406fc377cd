import { launch, type Browser, type Page } from 'puppeteer-core';

import { browserHere } from '@vantage/test-support/browser/needs';

/** Browser of this machine, if any. */
export const here = browserHere(process.env['PATH']);

/** Upper bound of waits, milliseconds. */
export const WAIT_LIMIT_MS = 120_000;

export async function openBrowser(args: readonly string[] = []): Promise<Browser> {
  return await launch({
    executablePath: here.executablePath,
    pipe: true,
    // Chromium does not start as root with its sandbox; tests need none, because they load only their own pages.
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...args],
    protocolTimeout: 3 * WAIT_LIMIT_MS,
    timeout: WAIT_LIMIT_MS,
  });
}

/** A tab with its recorded faults. */
export interface Tab {
  readonly page: Page;
  /** Script and console errors except failed loads, CSP violations, and requests to other origins. */
  readonly faults: readonly string[];
  readonly close: () => Promise<void>;
}

/** Console message of a failed load, which some tests cause on purpose. */
const FAILED_LOAD = /^Failed to load resource/;

/**
 * Opens a tab in a new context, with an empty profile and cache.
 *
 * @param url base URL of the service: requests to other origins are faults
 */
export async function openTab(browser: Browser, url: string, width = 1280): Promise<Tab> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const faults: string[] = [];
  await watchFaults(page, { url, faults });
  await setUp(page, width);
  return { page, faults, close: () => context.close() };
}

export async function setUp(page: Page, width: number): Promise<void> {
  page.setDefaultTimeout(WAIT_LIMIT_MS);
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
}

/** Base URL of the service that a page belongs to, and the list to which faults of the page are added. */
export interface Watched {
  url: string;
  faults: string[];
}

export async function watchFaults(page: Page, watched: Watched): Promise<void> {
  page.on('pageerror', (error) => watched.faults.push(`script: ${String(error)}`));
  page.on('console', (message) => {
    if (message.type() !== 'error' || FAILED_LOAD.test(message.text())) return;
    watched.faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const url = request.url();
    if (new URL(url).origin !== new URL(watched.url).origin) watched.faults.push(`request: ${url}`);
  });
  await page.evaluateOnNewDocument(`addEventListener('securitypolicyviolation', (violation) =>
    console.error('policy: ' + violation.violatedDirective + ' ' + violation.blockedURI))`);
}

/** Waits until an expression is true in the page. Each look may lay the page out. */
export async function untilTrue(page: Page, expression: string): Promise<void> {
  try {
    await page.waitForFunction(expression, { timeout: WAIT_LIMIT_MS, polling: 150 });
  } catch (error) {
    const text = await page.evaluate('document.body.innerText').catch(() => '');
    throw new Error(`never true: ${expression}\n\n${String(text)}`, { cause: error });
  }
}

/** Waits until the page text contains a part. */
export async function untilText(page: Page, part: string): Promise<void> {
  await untilTrue(page, `document.body.innerText.includes(${JSON.stringify(part)})`);
}

/** Visible text of the first matching element. */
export async function textOf(page: Page, selector: string): Promise<string> {
  return String(await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).innerText`));
}
