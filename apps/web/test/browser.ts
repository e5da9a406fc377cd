import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { launch, type Browser, type Page } from 'puppeteer-core';

import { browserHere } from '../../../packages/diagnostics/test/browser-needs.ts';

/** The browser of this machine. */
export const here = browserHere(process.env['PATH']);

/** Longest wait for something that must come, milliseconds. */
export const PATIENCE_MS = 60_000;

export async function openBrowser(): Promise<Browser> {
  return await launch({
    executablePath: here.executablePath,
    pipe: true,
    // The tests may run as root, and the pages are our own.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    protocolTimeout: 3 * PATIENCE_MS,
    timeout: PATIENCE_MS,
  });
}

/** A tab, and everything in it that should not happen. */
export interface Tab {
  readonly page: Page;
  /** Errors of scripts, violations of the content security policy, requests that leave the service. */
  readonly faults: string[];
  readonly close: () => Promise<void>;
}

/** Failed loads that a test wants: the browser writes them to the console. */
const FAILED_LOAD = /^Failed to load resource/;

/**
 * A tab of a profile of its own: nothing is stored, and nothing is cached.
 *
 * @param url base address of the service: a request to any other origin is a fault
 */
export async function openTab(browser: Browser, url: string, width = 1280): Promise<Tab> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: 'prefers-reduced-motion', value: 'reduce' }]);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`script: ${String(error)}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !FAILED_LOAD.test(message.text())) faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) faults.push(`request: ${request.url()}`);
  });
  await page.evaluateOnNewDocument(`addEventListener('securitypolicyviolation', (violation) =>
    console.error('policy: ' + violation.violatedDirective + ' ' + violation.blockedURI))`);
  return { page, faults, close: () => context.close() };
}

/** Waits until an expression is true in the page. */
export async function untilTrue(page: Page, expression: string): Promise<void> {
  try {
    await page.waitForFunction(expression, { timeout: PATIENCE_MS, polling: 50 });
  } catch (error) {
    const text = await page.evaluate('document.body.innerText').catch(() => '');
    throw new Error(`never true: ${expression}\n\n${String(text)}`, { cause: error });
  }
}

/** Waits until the text of the page has a part. */
export async function untilText(page: Page, part: string): Promise<void> {
  await untilTrue(page, `document.body.innerText.includes(${JSON.stringify(part)})`);
}

/** The text of the first element of a selector, as it is seen. */
export async function textOf(page: Page, selector: string): Promise<string> {
  return String(await page.evaluate(`document.querySelector(${JSON.stringify(selector)}).innerText`));
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What keeps people from using the page as it is now, by the rules of axe. */
export async function axeViolations(page: Page): Promise<unknown> {
  const run = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => html + ' ' + failureSummary) })))`;
  return await page.evaluate(`${axe}; ${run}`);
}
