import { setTimeout as sleep } from 'node:timers/promises';

import type { Page } from 'puppeteer';

import { watchRequests, type PageTraffic } from './request-watch.ts';
import { waitUntilQuiet } from './wait-until-quiet.ts';

/** An empty page that a browser loads first, so that the proxy has challenged it before the requested page. */
export const WARM_UP = 'http://warm-up.invalid/';

/** Minimum time for a page that loaded late to render its content. */
const LEAST_SETTLE_MS = 1_500;
/** Time for a screenshot after the document could not be decoded: part of it may be drawn. */
const DRAWN_AFTER_MS = 2_000;
const UNDECODABLE = 'net::ERR_CONTENT_DECODING_FAILED';

export interface Loading {
  /**
   * To race with the screenshot: rejects `DRAWN_AFTER_MS` after the call, or after the browser reports later that it
   * cannot decode the document; never settles without such a report.
   */
  readonly neverDrawn: () => Promise<never>;
}

/**
 * Resolves when there is something to show, complete or not.
 *
 * @param leftMs milliseconds for the page to load; what then remains, at least `LEAST_SETTLE_MS`, is for its content to
 *   settle
 * @throws the error of the navigation if it failed, or Error if the browser has ended
 */
export async function loadPage(page: Page, traffic: PageTraffic, url: URL, leftMs: number): Promise<Loading> {
  const startedMs = performance.now();
  const neverDrawn = undrawn(page);
  const requests = watchRequests(page, traffic);
  const complete = isLoaded(page, url, leftMs).then(async (loaded) => {
    // A page that has not finished loading has used up its time, and is not awaited any further.
    if (loaded) await waitUntilQuiet(page, requests, Math.max(LEAST_SETTLE_MS, startedMs + leftMs - performance.now()));
  });
  await Promise.race([complete, requests.tooMany]);
  complete.catch(() => undefined);
  return { neverDrawn };
}

/**
 * Creates `neverDrawn` for a page. A document that cannot be decoded from its first bytes is never drawn, and capturing
 * it never ends.
 */
function undrawn(page: Page): () => Promise<never> {
  const isUndecodable = new Promise<void>((resolve) => {
    page.on('requestfailed', (request) => {
      const isDocument = request.isNavigationRequest() && request.frame() === page.mainFrame();
      if (isDocument && request.failure()?.errorText === UNDECODABLE) resolve();
    });
  });
  return async () => {
    await isUndecodable;
    await sleep(DRAWN_AFTER_MS);
    throw new Error(UNDECODABLE);
  };
}

/**
 * Opens the URL. True if the page loads in time; false if it is shown but has not finished loading by then.
 *
 * @throws any other error of the navigation
 */
async function isLoaded(page: Page, url: URL, timeoutMs: number): Promise<boolean> {
  try {
    await page.goto(url.href, { waitUntil: 'load', timeout: timeoutMs });
    return true;
  } catch (error) {
    const isShown = page.url() !== WARM_UP && page.url() !== 'about:blank';
    if (isShown && Error.isError(error) && error.name === 'TimeoutError') return false;
    throw error;
  }
}
