import { connect } from 'puppeteer';

import { admitSite } from '@vantage/test-support/browser/site';

import { loadPage, WARM_UP } from '../src/browser/page/load.ts';
import { VIEWPORT } from '../src/browser/process/flags.ts';
import { launchBrowser } from '../src/browser/process/launch.ts';
import { thisProcess } from '../src/browser/process/temp-folder.ts';
import { startProxy } from '../src/browser/proxy/proxy.ts';
import { defaultProxyLimits } from '../src/browser/proxy/proxy-ledger.ts';

/** A browser with its proxy that loads one page after the other as a screenshot does, which has a browser for each. */
export interface SharedBrowser {
  /** The picture of a page, once it is loaded and settled. */
  readonly screenshotOf: (url: string, loadMs: number) => Promise<Uint8Array>;
  readonly close: () => Promise<void>;
}

export async function openSharedBrowser(
  executablePath: string,
  tempFolder: string,
  ports: readonly number[],
): Promise<SharedBrowser> {
  const over = new AbortController();
  const pages = new Map([['warm-up.invalid', () => ({ body: '' })]]);
  const proxy = await startProxy({ admit: admitSite(ports), limits: defaultProxyLimits, pages, signal: over.signal });
  const running = await launchBrowser({
    executablePath,
    tempFolder,
    ...(process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}),
    namespace: false,
    owner: thisProcess(),
    proxyPort: proxy.port,
    userAgent: 'Vantage-Test/0',
    memoryBytes: 1024 ** 3,
  });
  const defaultViewport = { ...VIEWPORT, deviceScaleFactor: 1 };
  const browser = await connect({ transport: running.transport, defaultViewport, protocolTimeout: 240_000 });
  const screenshotOf = async (url: string, loadMs: number): Promise<Uint8Array> => {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.authenticate(proxy.credentials);
    await page.goto(WARM_UP, { timeout: 240_000 });
    await page.authenticate(null);
    const opened = running.transport.webSockets();
    const webSockets = (): number => running.transport.webSockets() - opened;
    await loadPage(page, { receivedBytes: () => proxy.counts().bytes, webSockets }, new URL(url), loadMs);
    const png = await page.screenshot({ type: 'png', captureBeyondViewport: false });
    await context.close();
    return png;
  };
  const close = async (): Promise<void> => {
    over.abort();
    await Promise.all([running.close(), proxy.close()]);
  };
  return { screenshotOf, close };
}
