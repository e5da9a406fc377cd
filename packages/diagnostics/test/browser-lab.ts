import { createSocket } from 'node:dgram';
import { setTimeout as sleep } from 'node:timers/promises';

import type { AdmissionRequest, Failure } from '@vantage/contract';

import { startCanaries } from '../src/browser/isolation/canaries.ts';
import { createScreenshots, type CaptureRequest } from '../src/browser/screenshots.ts';
import { browserFolder } from '@vantage/test-support/browser/needs';
import { admitSite, startSite } from '@vantage/test-support/browser/site';
import { DONE, labPages, WORKER_TRIED, type Attempts } from './browser-lab-pages.ts';

export interface LabOptions {
  readonly executablePath: string;
  /** Address of the page's server; the only one that the fake admission admits. */
  readonly pageAddress: string;
  /** Host name of the page: one in `.localhost` may have a service worker without a certificate. */
  readonly pageHost: string;
  /** Addresses of the canaries; those that the machine lacks are omitted. */
  readonly canaries: readonly string[];
  /** True to count queries to port 53 of 127.0.0.1, which must be the machine's resolver. */
  readonly nameServer: boolean;
  /** Prefixes of flags to remove from the browser's command line, to prove that the canaries work. */
  readonly without: readonly string[];
  /** True if the browser is in a separate network namespace. */
  readonly namespace: boolean;
  /** Other pages that are captured: one that redirects to a canary, and one that refreshes itself to it. */
  readonly others?: readonly ('redirect' | 'refresh')[];
  /** Prefixes of canaries that the page is expected to reach: it stays open until it has. */
  readonly awaitTouched?: readonly string[];
}

export interface LabReport {
  readonly canaries: readonly string[];
  /** Canaries that were reached; the page, its service worker and its redirects must reach none. */
  readonly touched: readonly string[];
  /** Queries to the name server; a browser behind the proxy must send none. */
  readonly questions: number;
  /** Hosts that the browser requested from the proxy. */
  readonly asked: readonly string[];
  /** Requested paths of the page's server, as proof that the page ran. */
  readonly paths: readonly string[];
  /** Failure of a picture whose page redirects to a canary; null without one, or if it was not asked for. */
  readonly redirectFailure: Failure | null;
  /** Failure of a picture whose page refreshes itself to a canary; null without one, or if it was not asked for. */
  readonly refreshFailure: Failure | null;
  readonly screenshotBytes: number;
}

/** Loads pages that try to reach canaries in many ways, and reports the reached ones. */
export async function runLab(options: LabOptions): Promise<LabReport> {
  const { executablePath, pageAddress, pageHost, without, namespace, others = [], awaitTouched = [] } = options;
  const canaries = await startCanaries(options.canaries);
  const names = options.nameServer ? await startNameServer() : undefined;
  const folder = await browserFolder();
  const awaited = pageHost.endsWith('.localhost') ? [DONE, WORKER_TRIED] : [DONE];
  const attempts = awaitAttempts(awaited, () =>
    awaitTouched.every((start) => canaries.touched().some((name) => name.startsWith(start))),
  );
  const site = await startSite(
    labPages(canaries, attempts, () => site.port),
    pageAddress,
  );
  const asked: AdmissionRequest[] = [];
  const screenshots = createScreenshots({
    executablePath,
    namespace,
    tempFolder: folder.path,
    selfTestMs: 45_000,
    proxyLimits: { requests: 10_000, connections: 500 },
    admit: admitSite([site.port], asked, pageAddress),
    changeFlags: (flags) => flags.filter((flag) => !without.some((start) => flag.startsWith(start))),
  });
  const capture = (path: string): ReturnType<typeof screenshots.capture> =>
    screenshots.capture(requestFor(`http://${pageHost}:${site.port}${path}`));
  try {
    // Determines whether there can be a namespace; without one, only the flags are tested.
    if (namespace) await screenshots.selfTest(AbortSignal.timeout(100_000));
    const picture = await capture('/');
    const isAsked = (other: 'redirect' | 'refresh'): boolean => others.includes(other);
    const redirected = isAsked('redirect') ? await capture(`/redirect?to=${canaries.web[0] ?? ''}`) : undefined;
    let refreshed = isAsked('refresh') ? await capture('/refresh') : undefined;
    // The screenshot may be taken before the browser leaves the page.
    while (refreshed?.failure === null && !attempts.isOver()) refreshed = await capture('/refresh');
    return {
      canaries: [...canaries.web.map((name) => `tcp ${name}`), ...canaries.datagrams.map((name) => `udp ${name}`)],
      touched: canaries.touched(),
      questions: names?.questions() ?? 0,
      asked: [...new Set(asked.map(({ host }) => host))],
      paths: [...new Set(site.paths)],
      redirectFailure: redirected?.failure ?? null,
      refreshFailure: refreshed?.failure ?? null,
      screenshotBytes: picture.png?.length ?? 0,
    };
  } finally {
    attempts.stop();
    await screenshots.close();
    await Promise.all([site.close(), canaries.close(), names?.close()]);
    folder.remove();
  }
}

/** Awaits the requests for these paths, for at most `PATIENCE_MS`. */
function awaitAttempts(paths: readonly string[], areTouched: () => boolean): Attempts {
  const awaited = new Set(paths);
  const tried = Promise.withResolvers<void>();
  const over = new AbortController();
  const patience = setTimeout(() => {
    over.abort();
    tried.resolve();
  }, PATIENCE_MS);
  return {
    tick: (path, response) => {
      awaited.delete(path);
      if (awaited.size === 0) tried.resolve();
      response.end();
    },
    ended: async () => {
      await tried.promise;
      while (!over.signal.aborted && !areTouched()) await sleep(POLL_INTERVAL_MS);
    },
    isOver: () => over.signal.aborted,
    stop: () => {
      clearTimeout(patience);
      over.abort();
    },
  };
}

/** Only a page that does not complete its attempts needs this long. */
const PATIENCE_MS = 40_000;
const POLL_INTERVAL_MS = 50;

function requestFor(url: string): CaptureRequest {
  const signal = AbortSignal.timeout(100_000);
  return { url, insecureSSL: true, userAgent: 'Vantage-Test/0', signal, timeoutMs: 90_000 };
}

async function startNameServer(): Promise<{ readonly questions: () => number; readonly close: () => Promise<void> }> {
  let questions = 0;
  const socket = createSocket('udp4');
  socket.on('message', () => {
    questions += 1;
  });
  await new Promise<void>((resolve) => socket.bind(53, '127.0.0.1', resolve));
  return { questions: () => questions, close: () => new Promise((resolve) => socket.close(() => resolve())) };
}
