import { access } from 'node:fs/promises';

import type { Admit, Failure } from '@vantage/contract';

import { errorText } from './error-text.ts';
import { browserFailed, tooSlow } from './failures.ts';
import { isExecutable } from './process/find-browser.ts';
import { canMakeNamespace, type Identity } from './process/namespace.ts';
import { takePicture, type Picture, type PictureOptions } from './picture.ts';
import { defaultProxyLimits, type ChargeBytes, type ProxyLimits } from './proxy/proxy-ledger.ts';
import { runSelfTest } from './isolation/self-test.ts';
import { removeOrphans, thisProcess } from './process/temp-folder.ts';
import { turns } from './turns.ts';

export interface ScreenshotsOptions {
  /** A Chromium from `findBrowser`. Without it no screenshot is possible, as the self-test reports. */
  readonly executablePath?: string | undefined;
  /** Admission of the hosts that a page requests. */
  readonly admit: Admit;
  /** Counts the bytes of each connection against the limit of its network; by default there is none. */
  readonly charge?: ChargeBytes | undefined;
  /** The user that the browser of a root agent runs as, 65534 by default; otherwise it runs as the agent's user. */
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  readonly proxyLimits?: Partial<ProxyLimits> | undefined;
  /** Parent of each browser's folder; the browser's user needs search permission for it. */
  readonly tempFolder: string;
  /** Limit of a browser's resident memory in bytes, above which it is killed; 1 GiB by default. */
  readonly memoryBytes?: number | undefined;
  /** Browsers at the same time; 1 by default. */
  readonly concurrency?: number | undefined;
  /**
   * False if only flags restrict the browser to its proxy. By default the self-test decides whether it also runs in a
   * network namespace.
   */
  readonly namespace?: boolean | undefined;
  /** Time for a self-test with a namespace, and once more for one without, milliseconds; by default `SELF_TEST_MS`. */
  readonly selfTestMs?: number | undefined;
  readonly log?: ((message: string, fields: Readonly<Record<string, unknown>>) => void) | undefined;
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
  /**
   * Longest wait in the queue, after which the request fails, milliseconds; by default without limit.
   */
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
  readonly capture: (request: CaptureRequest) => Promise<Picture>;
  /** Runs the self-test. Null if screenshots may be offered, else the reason as text. */
  readonly selfTest: (signal: AbortSignal) => Promise<string | null>;
  readonly status: () => ScreenshotsStatus;
  /** Ends every browser; resolves when their runs have ended. */
  readonly close: () => Promise<void>;
}

const TIMEOUT_MS = 20_000;
const SELF_TEST_MS = 25_000;
const MEMORY_BYTES = 1024 ** 3;
const MAY_WAIT = 4;
const UNPRIVILEGED = 65_534;

export function createScreenshots(options: ScreenshotsOptions): Screenshots {
  return new BrowserScreenshots(options);
}

class BrowserScreenshots implements Screenshots {
  private readonly options: ScreenshotsOptions;
  private readonly closing = new AbortController();
  private readonly queue: ReturnType<typeof turns>;
  private readonly underWay = new Set<Promise<unknown>>();
  private readonly counts = { taken: 0, failed: 0, noPage: 0 };
  private namespace = false;
  private verdict: string | null | undefined;
  private orphansRemoved: Promise<void> | undefined;

  constructor(options: ScreenshotsOptions) {
    this.options = options;
    this.queue = turns(options.concurrency ?? 1, MAY_WAIT);
  }

  readonly capture = async ({ timeoutMs = TIMEOUT_MS, waitMs, ...request }: CaptureRequest): Promise<Picture> => {
    const { executablePath, log } = this.options;
    const url = webUrl(request.url);
    const picture = await this.inTurn<Picture>(
      request.signal,
      async (signal) => {
        if (executablePath === undefined) return none(noBrowser());
        return takePicture({ ...request, url, signal, timeoutMs }, this.pictureOptions(executablePath)).catch(ourFault);
      },
      (reason) => {
        const isOver = request.signal.aborted || this.closing.signal.aborted;
        return none(reason === 'aborted' && isOver ? tooSlow() : busy());
      },
      waitMs,
    );
    if (picture.failure === null) this.counts.taken += 1;
    else if (picture.failure.source === 'probe') this.counts.failed += 1;
    else this.counts.noPage += 1;
    if (picture.failure?.source === 'probe') log?.('no screenshot', { reason: picture.failure.message });
    return picture;
  };

  readonly selfTest = async (signal: AbortSignal): Promise<string | null> => {
    const { executablePath, tempFolder, log } = this.options;
    this.orphansRemoved ??= removeOrphans(tempFolder);
    await this.orphansRemoved.catch(() => undefined);
    this.verdict = (await missing(executablePath, tempFolder)) ?? undefined;
    this.verdict ??= await this.inTurn<string | null>(
      signal,
      (ending) => this.testBoth(executablePath!, ending).catch((error) => errorText(error)),
      () => 'The self-test did not get its turn.',
    );
    if (this.verdict !== null) log?.('no screenshots here', { reason: this.verdict });
    return this.verdict;
  };

  readonly status = (): ScreenshotsStatus => ({
    running: this.queue.running(),
    waiting: this.queue.waiting(),
    ...this.counts,
    selfTest: this.verdict,
    namespace: this.namespace,
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

  /**
   * Runs the self-test in a namespace if the agent can create one and the options do not forbid it. Otherwise, or if it
   * fails there, the test runs with flags only. A test that timed out is not repeated without the namespace: slowness
   * must not weaken the isolation.
   */
  private async testBoth(path: string, signal: AbortSignal): Promise<string | null> {
    const { selfTestMs = SELF_TEST_MS, log } = this.options;
    this.namespace = this.options.namespace !== false && (await canMakeNamespace(identity(this.options)));
    const first = await runSelfTest(this.pictureOptions(path), signal, selfTestMs);
    if (first === null || first.isOutOfTime || !this.namespace) return first?.reason ?? null;
    log?.('no network namespace for screenshots', { reason: first.reason });
    this.namespace = false;
    const second = await runSelfTest(this.pictureOptions(path), signal, selfTestMs);
    return second?.reason ?? null;
  }

  private pictureOptions(path: string): PictureOptions {
    const { options } = this;
    return {
      executablePath: path,
      ...identity(options),
      namespace: this.namespace,
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

/**
 * User and group of the browser: a root agent runs it as another user, because Chromium refuses its sandbox to root.
 */
function identity({ uid, gid }: ScreenshotsOptions): Identity {
  if (process.getuid?.() !== 0) return {};
  const user = uid ?? UNPRIVILEGED;
  return { uid: user, gid: gid ?? user };
}

async function missing(executablePath: string | undefined, tempFolder: string): Promise<string | null> {
  if (process.platform !== 'linux') return 'Screenshots need Linux: the browser is watched through /proc.';
  if (executablePath === undefined) return 'There is no chromium-headless-shell and no chromium on this machine.';
  if (!isExecutable(executablePath)) return `${executablePath} cannot be executed.`;
  return access(tempFolder).then(
    () => null,
    () => `The folder ${tempFolder} is not there.`,
  );
}

function none(failure: Failure): Picture {
  return { png: null, failure };
}

function ourFault(error: unknown): Picture {
  return none(browserFailed(`The browser could not be run: ${errorText(error)}`));
}

function noBrowser(): Failure {
  const message = 'The probe has no browser.';
  return { code: 'capability_missing', phase: 'exec', source: 'probe', message };
}

function busy(): Failure {
  const message = 'The probe takes too many screenshots already.';
  return { code: 'probe_busy', phase: 'exec', source: 'probe', message };
}
