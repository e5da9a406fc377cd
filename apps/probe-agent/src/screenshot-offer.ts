import { setTimeout as sleep } from 'node:timers/promises';

import type { CaptureRequest, Picture, Screenshots, ScreenshotsStatus } from '@vantage/diagnostics';
import type { Logger } from 'pino';

/** Whether the operator wants screenshots: auto takes them where it can, and is content where it cannot. */
export const screenshotWishes = ['auto', 'on', 'off'] as const;
export type ScreenshotWish = (typeof screenshotWishes)[number];

/** Whether this agent takes screenshots, and the browser that does. */
export interface ScreenshotOffer {
  /** Runs the self-test, and again later where it fails. Not waited for. */
  readonly start: () => void;
  /** True once the self-test has passed, for as long as nothing speaks against it. */
  readonly isOffered: () => boolean;
  /** What is missing of what the operator asked for, in words. */
  readonly degraded: () => string | null;
  /** Waits for a self-test that is under way. Null where screenshots are offered, else the reason in words. */
  readonly settled: (signal: AbortSignal) => Promise<string | null>;
  /** Takes a picture. As `Screenshots.capture`. */
  readonly capture: (request: CaptureRequest) => Promise<Picture>;
  /** How the browser fares; absent where none is wanted. */
  readonly status?: (() => ScreenshotsStatus) | undefined;
  /** Ends every browser; resolves when nothing of them is left. */
  readonly close: () => Promise<void>;
}

export interface ScreenshotOfferParts {
  readonly wish: ScreenshotWish;
  /** Undefined where they are not wanted. */
  readonly screenshots:
    | (Pick<Screenshots, 'selfTest' | 'capture' | 'close'> & Partial<Pick<Screenshots, 'status'>>)
    | undefined;
  readonly log: Logger;
  /** The wait after a self-test that failed, milliseconds; twice as long after each further one. */
  readonly retryMs?: number;
  /** How long the first self-test leaves the machine to what starts beside the agent, milliseconds. */
  readonly delayMs?: number;
}

const SELF_TEST_MS = 60_000;
const RETRY_MS = 10_000;
const DELAY_MS = 1_000;
const LONGEST_RETRY_MS = 1_800_000;
/** Failures in a row by the browser's doing after which it is tested again before it is offered further. */
const DOUBTFUL_AFTER = 3;

const NOT_WANTED = 'Screenshots are switched off on this probe.';

/** Offers screenshots only while the self-test of the browser says that they are safe. */
export function createScreenshotOffer(parts: ScreenshotOfferParts): ScreenshotOffer {
  const { wish, screenshots, log, retryMs = RETRY_MS, delayMs = DELAY_MS } = parts;
  const closing = new AbortController();
  let verdict: string | null = screenshots === undefined ? NOT_WANTED : 'The self-test of the browser has not run yet.';
  let isTested = false;
  let testing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let browserFailures = 0;

  const test = async (): Promise<void> => {
    if (screenshots === undefined) return;
    if (!isTested) await sleep(delayMs, undefined, { signal: closing.signal }).catch(() => undefined);
    if (closing.signal.aborted) return;
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(SELF_TEST_MS)]);
    const said = await screenshots.selfTest(signal).catch(() => 'The self-test of the browser could not be run.');
    if (closing.signal.aborted) return;
    browserFailures = 0;
    if (said !== verdict || !isTested) {
      if (said === null) log.info('screenshots are offered');
      else log[wish === 'on' ? 'warn' : 'info']({ reason: said }, 'screenshots are not offered');
    }
    verdict = said;
    isTested = true;
    failures = said === null ? 0 : failures + 1;
    if (said !== null) timer = setTimeout(start, Math.min(retryMs * 2 ** (failures - 1), LONGEST_RETRY_MS));
  };

  const start = (): void => {
    if (screenshots === undefined || closing.signal.aborted) return;
    clearTimeout(timer);
    testing ??= test().finally(() => (testing = undefined));
  };

  const note = ({ failure }: Picture): void => {
    const isBrowsers = failure?.code === 'screenshot_failed' && failure.source === 'probe';
    browserFailures = isBrowsers ? browserFailures + 1 : 0;
    if (browserFailures < DOUBTFUL_AFTER || verdict !== null) return;
    verdict = failure!.message;
    start();
  };

  return {
    start,
    isOffered: () => verdict === null,
    degraded: () => (wish === 'on' && isTested && verdict !== null ? `screenshot: ${verdict}` : null),
    settled: async (signal) => {
      const { promise: aborted, resolve } = Promise.withResolvers<void>();
      const onAbort = (): void => resolve();
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
      await Promise.race([testing, aborted]);
      signal.removeEventListener('abort', onAbort);
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
