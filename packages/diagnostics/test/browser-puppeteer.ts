import { launch } from 'puppeteer';

export type WaitUntil = 'networkidle0' | 'networkidle2';

/** Puppeteer with a separate browser, without a proxy: the second opinion on when a page is complete. */
export interface PuppeteerPeer {
  readonly capture: (url: string, waitUntil: WaitUntil) => Promise<Uint8Array>;
  readonly close: () => Promise<void>;
}

/** @param host resolves to 127.0.0.1, like the host of `admitSite` */
export async function startPuppeteer(executablePath: string, host: string): Promise<PuppeteerPeer> {
  const args = [`--host-resolver-rules=MAP ${host} 127.0.0.1`, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])];
  const browser = await launch({ executablePath, headless: 'shell', args });
  const capture: PuppeteerPeer['capture'] = async (url, waitUntil) => {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.setViewport({ width: 1280, height: 800 });
    await page.goto(url, { waitUntil, timeout: 12_000 }).catch(() => undefined);
    const png = await page.screenshot({ type: 'png', captureBeyondViewport: false });
    await context.close();
    return png;
  };
  return { capture, close: () => browser.close() };
}
