import type { Admit } from '@vantage/contract';

import { ownAddresses, startCanaries } from './canaries.ts';
import { canaryPage } from './canary-page.ts';
import { takeScreenshot, type ScreenshotOptions } from '../take-screenshot.ts';
import type { FilteringProxy } from '../proxy/proxy.ts';
import { sandboxFault } from '../process/sandbox.ts';

const CANARY_URL = 'http://canary.invalid/';
const DONE_PATH = '/done';
const POLL_INTERVAL_MS = 50;

/** Why a browser failed the self-test. */
export interface SelfTestFault {
  readonly reason: string;
  /** True if the self-test timed out, which proves nothing about the isolation. */
  readonly isOutOfTime: boolean;
}

/**
 * Takes a screenshot of the canary page, which must succeed. Listeners on loopback and on the machine's own addresses
 * must receive nothing, the proxy must have refused a request of the page, and the sandbox must be on.
 *
 * @returns null if screenshots may be offered
 */
export async function runSelfTest(
  options: ScreenshotOptions,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<SelfTestFault | null> {
  const canaries = await startCanaries(ownAddresses());
  try {
    const done = Promise.withResolvers<void>();
    const page = canaryPage({ web: canaries.web, datagrams: canaries.datagrams, donePath: DONE_PATH });
    const answer = (path: string): { readonly body: string } => {
      if (path === DONE_PATH) done.resolve();
      return { body: path === '/' ? page : '' };
    };
    let sandbox: string | null = 'the page was not shown';
    let attempts = 0;
    const { failure } = await takeScreenshot(
      { url: new URL(CANARY_URL), insecureSSL: true, userAgent: 'canary', signal, timeoutMs },
      {
        ...options,
        admit: refuseAll,
        pages: new Map([['canary.invalid', answer]]),
        inspect: async (browser, proxy, over) => {
          sandbox = await sandboxFault(browser.group);
          over.addEventListener('abort', () => done.resolve());
          await done.promise;
          attempts = await attemptsOf(proxy);
        },
      },
    );
    const touched = canaries.touched();
    if (touched.length > 0) {
      return faulty(`The browser can go around its proxy: the canary page reached ${touched.join(', ')}.`);
    }
    if (failure !== null) {
      const reason = `The browser cannot take a screenshot: ${failure.message}`;
      return { reason, isOutOfTime: failure.code === 'timed_out' };
    }
    if (sandbox !== null) return faulty(`Screenshots are not safe here: ${sandbox}.`);
    return attempts === 0 ? faulty('The canary page tried nothing, so it proves nothing.') : null;
  } finally {
    await canaries.close();
  }
}

function faulty(reason: string): SelfTestFault {
  return { reason, isOutOfTime: false };
}

/**
 * Number of requests of the page that the proxy refused, counted after a pause: the last one may arrive after the page
 * has finished.
 */
async function attemptsOf(proxy: FilteringProxy): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
  return proxy.counts().refused;
}

const refuseAll: Admit = async () => ({
  admitted: false,
  failure: {
    code: 'target_refused_by_policy',
    phase: 'resolve',
    source: 'probe',
    message: 'The canary page may reach nothing.',
  },
  addresses: [],
  resolveMs: 0,
});
