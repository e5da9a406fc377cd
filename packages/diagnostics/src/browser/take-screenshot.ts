import type { Server } from 'node:net';

import type { Admit, Failure, ScreenshotLimit } from '@vantage/contract';
import type { Browser, HTTPRequest, Page } from 'puppeteer';

import { errorText } from './error-text.ts';
import { browserFailed, navigationFailure, pageFailed, placedFailure, tooSlow } from './failures.ts';
import { VIEWPORT } from './process/flags.ts';
import { launchBrowser, type LaunchOptions, type RunningBrowser } from './process/launch.ts';
import { loadPage, WARM_UP } from './page/load.ts';
import { NAMESPACE_PROXY_PORT } from './process/namespace.ts';
import { startProxy, type FilteringProxy, type OwnPages } from './proxy/proxy.ts';
import type { ChargeBytes, ProxyLimits } from './proxy/proxy-ledger.ts';

export interface ScreenshotRequest {
  readonly url: URL;
  /** True if certificate errors are ignored. */
  readonly insecureSSL: boolean;
  readonly userAgent: string;
  readonly signal: AbortSignal;
  /** Total time limit, milliseconds. */
  readonly timeoutMs: number;
  /** After this time a page that is shown is captured as it is, milliseconds; by default two thirds of the total. */
  readonly loadMs?: number | undefined;
}

export type Capture =
  | {
      readonly png: Uint8Array;
      readonly failure: null;
      /** Limits that were exceeded; absent if none was. */
      readonly cutAt?: ScreenshotLimit[];
    }
  | { readonly png: null; readonly failure: Failure };

export interface ScreenshotOptions extends Omit<LaunchOptions, 'proxyPort' | 'userAgent'> {
  readonly admit: Admit;
  readonly charge?: ChargeBytes | undefined;
  readonly proxyLimits: ProxyLimits;
  readonly pages?: OwnPages | undefined;
  /** Called while the page is shown; for the self-test. */
  readonly inspect?:
    | ((browser: RunningBrowser, proxy: FilteringProxy, signal: AbortSignal) => Promise<void>)
    | undefined;
}

const MAX_PNG_BYTES = 4 * 1024 * 1024;
/** Minimum time for a page to load, or `loadMs` if that is less, however long the browser took to start. */
const LEAST_LOAD_MS = 3_000;

/** Takes one screenshot with a separate browser and proxy. It resolves only after both are closed. */
export async function takeScreenshot(request: ScreenshotRequest, options: ScreenshotOptions): Promise<Capture> {
  const startedMs = performance.now();
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), request.timeoutMs);
  const signal = AbortSignal.any([request.signal, over.signal]);
  const pages: OwnPages = new Map([...(options.pages ?? []), ['warm-up.invalid', () => ({ body: '' })]]);
  const started: Started = {};
  try {
    const { browser, proxy } = await start(request, { ...options, pages }, signal, started);
    return await show({ ...request, signal, startedMs }, browser, proxy, options.inspect);
  } catch (thrown) {
    return { png: null, failure: signal.aborted ? tooSlow() : notStarted(errorText(thrown)) };
  } finally {
    clearTimeout(timer);
    over.abort();
    // A listener that no proxy has taken over is closed, since an open one would keep its namespace alive.
    void started.browser?.listener.then((listener) => (started.proxy === undefined ? listener.close() : undefined));
    await Promise.all([started.browser?.close(), started.proxy?.close()]);
  }
}

/** Resources to close, even if a later one fails to start. */
interface Started {
  browser?: RunningBrowser;
  proxy?: FilteringProxy;
}

/** Starts a browser and its proxy. With a namespace the browser is first, because the proxy listens inside. */
async function start(
  { userAgent }: ScreenshotRequest,
  options: ScreenshotOptions & { readonly pages: OwnPages },
  signal: AbortSignal,
  started: Started,
): Promise<Required<Started>> {
  const { admit, charge, proxyLimits: limits, pages } = options;
  const open = async (listener?: Server): Promise<FilteringProxy> => {
    started.proxy = await startProxy({ admit, charge, limits, pages, signal, listener });
    return started.proxy;
  };
  const launch = async (proxyPort: number): Promise<RunningBrowser> => {
    signal.throwIfAborted();
    const browser = await launchBrowser({ ...options, proxyPort, userAgent });
    started.browser = browser;
    signal.addEventListener('abort', () => browser.end(OUT_OF_TIME));
    if (signal.aborted) browser.end(OUT_OF_TIME);
    return browser;
  };
  if (!options.namespace) {
    const proxy = await open();
    return { proxy, browser: await launch(proxy.port) };
  }
  const browser = await launch(NAMESPACE_PROXY_PORT);
  const failed = browser.ended.then((reason): never => {
    throw new Error(reason);
  });
  return { browser, proxy: await open(await Promise.race([browser.listener, failed])) };
}

const OUT_OF_TIME = 'time is up';

async function show(
  request: ScreenshotRequest & { readonly startedMs: number },
  running: RunningBrowser,
  proxy: FilteringProxy,
  inspect: ScreenshotOptions['inspect'],
): Promise<Capture> {
  let asked: HTTPRequest | undefined;
  const { startedMs, timeoutMs, loadMs = (timeoutMs * 2) / 3 } = request;
  const loadLeftMs = (): number => Math.max(Math.min(LEAST_LOAD_MS, loadMs), loadMs - (performance.now() - startedMs));
  const work = async (): Promise<Capture> => {
    const page = await openPage(running, proxy, request);
    page.on('request', (made) => {
      if (made.isNavigationRequest() && made.frame() === page.mainFrame()) asked = made;
    });
    const traffic = { receivedBytes: () => proxy.counts().bytes, webSockets: running.transport.webSockets };
    const loading = await loadPage(page, traffic, request.url, loadLeftMs());
    await inspect?.(running, proxy, request.signal);
    // A page that navigates to a failing one ends at an error page of the browser.
    if (page.url().startsWith('chrome-error:')) throw new Error('net::ERR_FAILED');
    const screenshot = await Promise.race([captureViewport(page), loading.neverDrawn()]);
    const { exceeded } = proxy.counts();
    return screenshot.png === null || exceeded.length === 0 ? screenshot : { ...screenshot, cutAt: [...exceeded] };
  };
  const ended = running.ended.then((reason): Capture => {
    if (reason === OUT_OF_TIME) return { png: null, failure: tooSlow() };
    return { png: null, failure: asked === undefined ? notStarted(reason) : notShown(reason) };
  });
  const shown = work().catch(async (thrown: unknown): Promise<Capture> => {
    // The reason for the browser's end is more informative than puppeteer's error.
    if (running.transport.isClosed()) return ended;
    const [first = asked] = asked?.redirectChain() ?? [];
    const url = first && URL.parse(running.transport.redirectedFrom(first.url()));
    const failure = (url && proxy.failureFor(url)) ?? navigationFailure(thrown);
    return { png: null, failure: placedFailure(failure, request.url, url ?? undefined) };
  });
  return Promise.race([shown, ended]);
}

async function openPage(running: RunningBrowser, proxy: FilteringProxy, request: ScreenshotRequest): Promise<Page> {
  // The module is loaded only for the first screenshot, because it takes 20 MiB.
  const { connect } = await import('puppeteer');
  const browser: Browser = await connect({
    transport: running.transport,
    acceptInsecureCerts: request.insecureSSL,
    defaultViewport: { ...VIEWPORT, deviceScaleFactor: 1 },
    downloadBehavior: { policy: 'deny' },
    issuesEnabled: false,
    protocolTimeout: request.timeoutMs,
  });
  // A context other than the default one is kept in memory only.
  const context = await browser.createBrowserContext({ downloadBehavior: { policy: 'deny' } });
  const page = await context.newPage();
  // After the challenge that the warm-up page causes, the browser uses the credentials for every connection to the
  // proxy. They are then withdrawn, because puppeteer would send them to a target that asks for a password.
  await page.authenticate(proxy.credentials);
  await page.goto(WARM_UP, { timeout: request.timeoutMs });
  await page.authenticate(null);
  page.on('dialog', (dialog) => void dialog.dismiss().catch(() => undefined));
  page.on('popup', (popup) => void popup?.close().catch(() => undefined));
  page.on('error', () => running.end('the page crashed, as pages do that run out of memory'));
  return page;
}

async function captureViewport(page: Page): Promise<Capture> {
  const png = await page.screenshot({ type: 'png', captureBeyondViewport: false });
  if (png.length > MAX_PNG_BYTES) return { png: null, failure: pageFailed('The screenshot is larger than 4 MiB.') };
  // The IHDR chunk (PNG third edition, section 11.2.1) comes first: width and height at octets 16 and 20.
  const head = new DataView(png.buffer, png.byteOffset, png.byteLength);
  if (head.getUint32(16) !== VIEWPORT.width || head.getUint32(20) !== VIEWPORT.height) {
    return { png: null, failure: browserFailed('The screenshot has another size than the viewport.') };
  }
  return { png, failure: null };
}

function notStarted(reason: string): Failure {
  return browserFailed(`The browser did not start: ${reason}`);
}

function notShown(reason: string): Failure {
  return pageFailed(`The browser was ended: ${reason}.`);
}
