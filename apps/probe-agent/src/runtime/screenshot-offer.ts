import type { CaptureRequest, Capture, Screenshots, ScreenshotsStatus } from '@vantage/diagnostics';
import { createBackoff, pause } from '@vantage/timers';
import type { Logger } from 'pino';

import type { ScreenshotWish } from '../config/measuring-settings.ts';

/** Availability of screenshots on this agent, and access to the browser. */
export interface ScreenshotOffer {
  /** Starts the self-test in the background; it is repeated after failures. */
  readonly start: () => void;
  /** True while the last self-test passed and no later failure contradicts it. */
  readonly isOffered: () => boolean;
  /**
   * Why the probe is degraded: its last self-test, or its browser since, failed. Null if neither did, and for a probe
   * that need not offer screenshots.
   */
  readonly degraded: () => string | null;
  /** Waits for a running self-test, until the signal aborts. Null if screenshots are offered, else the reason. */
  readonly settled: (signal: AbortSignal) => Promise<string | null>;
  /** Takes a screenshot; see `Screenshots.capture`. */
  readonly capture: (request: CaptureRequest) => Promise<Capture>;
  /** Status of the browser; absent if screenshots are off. */
  readonly status?: (() => ScreenshotsStatus) | undefined;
  /** Ends all browsers, as `Screenshots.close` does. */
  readonly close: () => Promise<void>;
}

export interface ScreenshotOfferDependencies {
  readonly wish: ScreenshotWish;
  /** Undefined if screenshots are off. */
  readonly screenshots:
    | (Pick<Screenshots, 'selfTest' | 'capture' | 'close'> & Partial<Pick<Screenshots, 'status'>>)
    | undefined;
  readonly log: Logger;
  /** Delay after the first failed self-test, milliseconds; doubles with each further one, up to five minutes. */
  readonly retryMs?: number;
  /** Delay of the first self-test, milliseconds, so that it does not compete with the startup of other processes. */
  readonly delayMs?: number;
}

const SELF_TEST_MS = 60_000;
const RETRY_MS = 10_000;
const DELAY_MS = 1_000;
const LONGEST_RETRY_MS = 300_000;
/** Consecutive browser failures that trigger another self-test. */
const DOUBTFUL_AFTER = 3;

const NOT_WANTED = 'Screenshots are switched off on this probe.';

/** Offers screenshots only while the browser's self-test passes. */
export function createScreenshotOffer(dependencies: ScreenshotOfferDependencies): ScreenshotOffer {
  const { wish, screenshots, log, retryMs = RETRY_MS, delayMs = DELAY_MS } = dependencies;
  const closing = new AbortController();
  let verdict: string | null = screenshots === undefined ? NOT_WANTED : 'The self-test of the browser has not run yet.';
  const backoffMs = createBackoff({ firstMs: retryMs, longestMs: LONGEST_RETRY_MS });
  let isTested = false;
  let testing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let browserFailures = 0;

  const test = async (): Promise<void> => {
    if (screenshots === undefined) return;
    if (!isTested) await pause(delayMs, closing.signal);
    if (closing.signal.aborted) return;
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(SELF_TEST_MS)]);
    const outcome = await screenshots.selfTest(signal).catch(() => 'The self-test of the browser could not be run.');
    if (closing.signal.aborted) return;
    browserFailures = 0;
    if (outcome !== verdict || !isTested) logOutcome(outcome, wish, log);
    [verdict, isTested] = [outcome, true];
    failures = outcome === null ? 0 : failures + 1;
    if (outcome !== null) timer = setTimeout(start, backoffMs(failures));
  };

  const start = (): void => {
    if (screenshots === undefined || closing.signal.aborted) return;
    clearTimeout(timer);
    testing ??= test().finally(() => (testing = undefined));
  };

  const note = ({ failure }: Capture): void => {
    browserFailures = isOfBrowser(failure) ? browserFailures + 1 : 0;
    if (browserFailures < DOUBTFUL_AFTER || verdict !== null) return;
    verdict = failure!.message;
    start();
  };

  return {
    start,
    isOffered: () => verdict === null,
    degraded: () => (wish === 'on' && isTested && verdict !== null ? `screenshot: ${verdict}` : null),
    settled: async (signal) => {
      await unlessAborted(testing, signal);
      return verdict;
    },
    capture: async (request) => {
      if (screenshots === undefined) throw new Error(NOT_WANTED);
      const picture = await screenshots.capture(request);
      if (!request.signal.aborted) note(picture);
      return picture;
    },
    status: screenshots?.status,
    close: async () => {
      closing.abort();
      clearTimeout(timer);
      await screenshots?.close();
    },
  };
}

function logOutcome(reason: string | null, wish: ScreenshotWish, log: Logger): void {
  if (reason === null) log.info('screenshots enabled');
  else log[wish === 'on' ? 'warn' : 'info']({ reason }, 'screenshots disabled');
}

function isOfBrowser(failure: Capture['failure']): boolean {
  return failure?.code === 'screenshot_failed' && failure.source === 'probe';
}

/** Waits for a promise until the signal aborts. */
async function unlessAborted(work: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const onAbort = (): void => resolve();
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  await Promise.race([work, aborted]);
  signal.removeEventListener('abort', onAbort);
}
