import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { launch, type Browser, type BrowserContext, type Page } from 'puppeteer-core';

import { browserHere } from '@vantage/test-support/browser/needs';

/** Browser of this machine, if any. */
export const here = browserHere(process.env['PATH']);

/** Upper bound of waits, milliseconds. */
export const WAIT_LIMIT_MS = 60_000;

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

/**
 * V8's optimising compilers are off: a page ends before optimised code has saved the CPU time of its compilation.
 * Baseline code is made at once.
 */
const SCRIPTS_ONCE = '--js-flags=--no-turbofan --no-maglev --always-sparkplug';

/** The browser of a suite, whose tabs share one renderer process. */
export interface SuiteBrowser {
  /**
   * Opens a tab without storage, cookies and cache of its service. Only one may be open at a time.
   *
   * @param url base URL of the service: requests to other origins are faults
   */
  readonly openTab: (url: string, width?: number) => Promise<Tab>;
  readonly close: () => Promise<void>;
}

/**
 * All tabs are in one context, since contexts do not share a renderer process: in a new one the heap grows from
 * nothing, and the scripts are compiled again.
 */
export async function openSuiteBrowser(): Promise<SuiteBrowser> {
  const browser = await openBrowser(['--renderer-process-limit=1', '--disable-site-isolation-trials', SCRIPTS_ONCE]);
  const context = browser.defaultBrowserContext();
  // This page stays open, because the renderer process of the context ends with its last page.
  const [first] = await context.pages();
  return {
    openTab: async (url, width) => {
      const tab = await openTabIn(context, url, width);
      const session = await tab.page.createCDPSession();
      await session.send('Storage.clearDataForOrigin', { origin: new URL(url).origin, storageTypes: 'all' });
      await session.send('Network.clearBrowserCache');
      await session.detach();
      const close = async (): Promise<void> => {
        for (const page of await context.pages()) if (page !== first) await page.close();
      };
      return { ...tab, close };
    },
    close: () => browser.close(),
  };
}

/** A tab with its recorded faults. */
export interface Tab {
  readonly page: Page;
  /** Script and console errors except failed loads, CSP violations, and requests to other origins. */
  readonly faults: string[];
  readonly close: () => Promise<void>;
}

/** Console message of a failed load, which some tests cause on purpose. */
const FAILED_LOAD = /^Failed to load resource/;

/**
 * Opens a tab in a new context, with an empty profile and cache.
 *
 * @param url base URL of the service: requests to other origins are faults
 */
export async function openTab(browser: Browser, url: string, width?: number): Promise<Tab> {
  const context = await browser.createBrowserContext();
  return { ...(await openTabIn(context, url, width)), close: () => context.close() };
}

async function openTabIn(context: BrowserContext, url: string, width = 1280): Promise<Omit<Tab, 'close'>> {
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_LIMIT_MS);
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
  return { page, faults };
}

/** Waits until an expression is true in the page. */
export async function untilTrue(page: Page, expression: string): Promise<void> {
  try {
    await page.waitForFunction(expression, { timeout: WAIT_LIMIT_MS, polling: 50 });
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

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Accessibility violations by the rules of axe. The contrast, whose examination takes more CPU time than all other
 * rules together, is examined at one element of each kind: elements of a kind have the same text style and backgrounds.
 */
export async function axeViolations(page: Page): Promise<readonly unknown[]> {
  return runAxe(page, `{ resultTypes: ['violations'] }`);
}

/** Violations of the rule of contrast alone. */
export async function contrastViolations(page: Page): Promise<readonly unknown[]> {
  return runAxe(page, `{ resultTypes: ['violations'], runOnly: ['color-contrast'] }`);
}

/**
 * Marks one element of each kind. The backgrounds below a positioned element do not follow from its ancestors, so each
 * positioned element begins other kinds.
 */
const markKinds = `(() => {
  const below = new Map([[null, '']]);
  const kinds = new Map();
  let positioned = 0;
  for (const element of document.querySelectorAll('*')) {
    const { color, fontSize, fontWeight, opacity, backgroundColor, backgroundImage, position } = getComputedStyle(element);
    const own = [backgroundColor, backgroundImage, opacity].join();
    let all = below.get(element.parentElement);
    if (own !== 'rgba(0, 0, 0, 0),none,1') all += own;
    if (position !== 'static' && position !== 'relative') all += (positioned += 1);
    below.set(element, all);
    const hasText = element.matches('input, select, textarea') || [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    const kind = [color, fontSize, fontWeight, all].join();
    if (hasText && !kinds.has(kind) && element.checkVisibility()) kinds.set(kind, element);
  }
  for (const element of kinds.values()) element.dataset.kind = '';
})()`;

async function runAxe(page: Page, options: string): Promise<readonly unknown[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') {
    await page.evaluate(axe);
    await page.evaluate(`axe.configure({ rules: [{ id: 'color-contrast', selector: '[data-kind]' }] })`);
  }
  await page.evaluate(markKinds);
  const run = `axe.run(document, ${options}).then(({ violations }) => {
    for (const element of document.querySelectorAll('[data-kind]')) delete element.dataset.kind;
    return violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => html + ' ' + failureSummary) }));
  })`;
  return (await page.evaluate(run)) as readonly unknown[];
}
