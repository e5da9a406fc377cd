import type { Admit, Failure } from '@vantage/contract';

import { errorText } from './error-text.ts';
import { browserFailed, busy, noBrowser, tooSlow } from './failures.ts';
import { createIsolation, type Isolation, type IsolationOptions } from './isolation/isolation.ts';
import { takeScreenshot, type Capture, type ScreenshotOptions } from './take-screenshot.ts';
import { defaultProxyLimits, type ChargeBytes, type ProxyLimits } from './proxy/proxy-ledger.ts';
import { prerequisiteFault } from './process/prerequisites.ts';
import { removeOrphans, thisProcess } from './process/temp-folder.ts';
import { turns } from './turns.ts';

export interface ScreenshotsOptions extends IsolationOptions {
  /** A Chromium from `findBrowser`. Without it no screenshot is possible, as the self-test reports. */
  readonly executablePath?: string | undefined;
  /** Admission of the hosts that a page requests. */
  readonly admit: Admit;
  /** Counts the bytes of each connection against the limit of its network; by default there is none. */
  readonly charge?: ChargeBytes | undefined;
  readonly proxyLimits?: Partial<ProxyLimits> | undefined;
  /** Parent of each browser's folder; the browser's user needs search permission for it. */
  readonly tempFolder: string;
  /** Limit of a browser's resident memory in bytes, above which it is killed; 1 GiB by default. */
  readonly memoryBytes?: number | undefined;
  /** Browsers at the same time; 1 by default. */
  readonly concurrency?: number | undefined;
  /** Changes the browser's command line; for tests of the effect of flags. */
  readonly changeFlags?: ((flags: readonly string[]) => readonly string[]) | undefined;
}

export interface CaptureRequest {
  /** An http(s) URL. */
  readonly url: string;
  /** True if certificate errors are ignored. */
  readonly insecureSSL: boolean;
  readonly userAgent: string;
  /** Gives the screenshot up when it aborts. */
  readonly signal: AbortSignal;
  /** Time limit without the wait in the queue, milliseconds; by default `TIMEOUT_MS`. */
  readonly timeoutMs?: number | undefined;
  /**
   * After this time a page that is shown is captured as it is, milliseconds; by default two thirds of `timeoutMs`.
   */
  readonly loadMs?: number | undefined;
  /** Longest wait in the queue, after which the request fails, milliseconds; by default without limit. */
  readonly waitMs?: number | undefined;
}

export interface ScreenshotsStatus {
  readonly running: number;
  readonly waiting: number;
  readonly taken: number;
  /** Requests whose failure has the probe as its source. */
  readonly failed: number;
  /** Requests whose failure has another source. */
  readonly noPage: number;
  /** Last result of the self-test: null on success, undefined without one yet and while a browser is tested. */
  readonly selfTest: string | null | undefined;
  /** True when browsers are in separate network namespaces. */
  readonly namespace: boolean;
}

/** Takes screenshots, with one browser each. A page reaches only what `admit` admits. */
export interface Screenshots {
  /**
   * Takes a PNG of 1280×800, at most 4 MiB, or returns why there is none.
   *
   * @throws TypeError if the URL is no http(s) URL
   */
  readonly capture: (request: CaptureRequest) => Promise<Capture>;
  /** Runs the self-test. Null if screenshots may be offered, else the reason as text. */
  readonly selfTest: (signal: AbortSignal) => Promise<string | null>;
  readonly status: () => ScreenshotsStatus;
  /** Ends every browser; resolves when their runs have ended. */
  readonly close: () => Promise<void>;
}

const TIMEOUT_MS = 20_000;
const MEMORY_BYTES = 1024 ** 3;
const MAY_WAIT = 4;

export function createScreenshots(options: ScreenshotsOptions): Screenshots {
  return new BrowserScreenshots(options);
}

class BrowserScreenshots implements Screenshots {
  private readonly options: ScreenshotsOptions;
  private readonly closing = new AbortController();
  private readonly queue: ReturnType<typeof turns>;
  private readonly underWay = new Set<Promise<unknown>>();
  private readonly counts = { taken: 0, failed: 0, noPage: 0 };
  private readonly isolation: Isolation;
  private lastSelfTest: string | null | undefined;
  private orphansRemoved: Promise<void> | undefined;

  constructor(options: ScreenshotsOptions) {
    this.options = options;
    this.isolation = createIsolation(options);
    this.queue = turns(options.concurrency ?? 1, MAY_WAIT);
  }

  readonly capture = async ({ timeoutMs = TIMEOUT_MS, waitMs, ...request }: CaptureRequest): Promise<Capture> => {
    const { executablePath, log } = this.options;
    const url = webUrl(request.url);
    const screenshot = await this.inTurn<Capture>(
      request.signal,
      async (signal) => {
        if (executablePath === undefined) return none(noBrowser());
        return takeScreenshot({ ...request, url, signal, timeoutMs }, this.optionsFor(executablePath)).catch(ourFault);
      },
      (reason) => {
        const isOver = request.signal.aborted || this.closing.signal.aborted;
        return none(reason === 'aborted' && isOver ? tooSlow() : busy());
      },
      waitMs,
    );
    if (screenshot.failure === null) this.counts.taken += 1;
    else if (screenshot.failure.source === 'probe') this.counts.failed += 1;
    else this.counts.noPage += 1;
    if (screenshot.failure?.source === 'probe') log?.('no screenshot', { reason: screenshot.failure.message });
    return screenshot;
  };

  readonly selfTest = async (signal: AbortSignal): Promise<string | null> => {
    const { executablePath, tempFolder, log } = this.options;
    this.orphansRemoved ??= removeOrphans(tempFolder);
    await this.orphansRemoved.catch(() => undefined);
    this.lastSelfTest = (await prerequisiteFault(executablePath, tempFolder)) ?? undefined;
    this.lastSelfTest ??= await this.inTurn<string | null>(
      signal,
      (ending) =>
        this.isolation.test(() => this.optionsFor(executablePath!), ending).catch((error) => errorText(error)),
      () => 'The self-test did not get its turn.',
    );
    if (this.lastSelfTest !== null) log?.('no screenshots here', { reason: this.lastSelfTest });
    return this.lastSelfTest;
  };

  readonly status = (): ScreenshotsStatus => ({
    running: this.queue.running(),
    waiting: this.queue.waiting(),
    ...this.counts,
    selfTest: this.lastSelfTest,
    namespace: this.isolation.current().namespace,
  });

  readonly close = async (): Promise<void> => {
    this.closing.abort();
    await Promise.allSettled(this.underWay);
  };

  /** Runs when a slot is free, or returns `otherwise` if it gets none; `close` waits for the run. */
  private async inTurn<T>(
    signal: AbortSignal,
    run: (signal: AbortSignal) => Promise<T>,
    otherwise: (reason: 'full' | 'aborted') => T,
    waitMs?: number,
  ): Promise<T> {
    const ending = AbortSignal.any([signal, this.closing.signal]);
    const waiting = waitMs === undefined ? ending : AbortSignal.any([ending, AbortSignal.timeout(waitMs)]);
    const turn = await this.queue.take(waiting);
    if (typeof turn === 'string') return otherwise(turn);
    const running = run(ending).finally(turn);
    this.underWay.add(running);
    return running.finally(() => this.underWay.delete(running));
  }

  private optionsFor(path: string): ScreenshotOptions {
    const { options } = this;
    return {
      executablePath: path,
      ...this.isolation.current(),
      tempFolder: options.tempFolder,
      owner: thisProcess(),
      memoryBytes: options.memoryBytes ?? MEMORY_BYTES,
      changeFlags: options.changeFlags,
      admit: options.admit,
      charge: options.charge,
      proxyLimits: { ...defaultProxyLimits, ...options.proxyLimits },
    };
  }
}

/** The http(s) URL without credentials; throws a TypeError for any other text. */
function webUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !(url.protocol === 'http:' || url.protocol === 'https:')) {
    throw new TypeError('Screenshots are of http(s) URLs.');
  }
  url.username = '';
  url.password = '';
  return url;
}

function none(failure: Failure): Capture {
  return { png: null, failure };
}

function ourFault(error: unknown): Capture {
  return none(browserFailed(`The browser could not be run: ${errorText(error)}`));
}
