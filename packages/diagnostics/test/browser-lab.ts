import { createSocket } from 'node:dgram';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import type { AdmissionRequest, Failure } from '@vantage/contract';

import { startCanaries } from '../src/browser/isolation/canaries.ts';
import { canaryPage } from '../src/browser/isolation/canary-page.ts';
import { createScreenshots, type CaptureRequest } from '../src/browser/screenshots.ts';
import { browserFolder } from '@vantage/test-support/browser/needs';
import { admitSite, startSite, type Serve } from '@vantage/test-support/browser/site';

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
  /** Prefixes of flags with which the browser is not started, to prove that the canaries work. */
  readonly without: readonly string[];
  /** True: the browser is in a separate network namespace. */
  readonly namespace: boolean;
  /** Prefixes of canaries that the page is expected to reach: it stays open until it has. */
  readonly awaitTouched?: readonly string[];
}

export interface LabReport {
  readonly canaries: readonly string[];
  /** Canaries that were reached; the page, its service worker and its redirects must reach none. */
  readonly touched: readonly string[];
  /** Queries to the name server; a browser behind a proxy sends none. */
  readonly questions: number;
  /** Hosts that the browser requested from the proxy. */
  readonly asked: readonly string[];
  /** Requested paths of the page's server, as proof that the page ran. */
  readonly paths: readonly string[];
  /** Failure of a picture whose page redirects to a canary. */
  readonly redirectFailure: Failure | null;
  /** Failure of a picture whose page refreshes itself to a canary. */
  readonly refreshFailure: Failure | null;
  readonly pictureBytes: number;
}

/** Loads pages that try to reach canaries in every known way, and reports the reached ones. */
export async function runLab({
  executablePath,
  pageAddress,
  pageHost,
  without,
  namespace,
  ...options
}: LabOptions): Promise<LabReport> {
  const canaries = await startCanaries(options.canaries);
  const names = options.nameServer ? await startNameServer() : undefined;
  const folder = await browserFolder();
  const done = '/done';
  const awaited = new Set(pageHost.endsWith('.localhost') ? [done, '/worker-tried'] : [done]);
  const tried = Promise.withResolvers<void>();
  const over = new AbortController();
  const patience = setTimeout(() => {
    over.abort();
    tried.resolve();
  }, PATIENCE_MS);
  const first = canaries.web[0] ?? '';
  const tick = (path: string, response: ServerResponse): void => {
    awaited.delete(path);
    if (awaited.size === 0) tried.resolve();
    response.end();
  };
  const touchedAll = async (): Promise<void> => {
    const { awaitTouched = [] } = options;
    const isTouched = (start: string): boolean => canaries.touched().some((name) => name.startsWith(start));
    while (!over.signal.aborted && !awaitTouched.every(isTouched)) await sleep(LOOK_EVERY_MS);
  };
  const redirect: Serve = (request, response) => {
    const to = new URL(request.url ?? '', 'http://page.test').searchParams.get('to');
    response.writeHead(302, { Location: `http://${to}/canary/redirected` }).end();
  };
  const page: Serve = (_request, response) => {
    const everywhere = canaries.web.map((target) => `http://${target}/canary/header`);
    response.writeHead(200, {
      'Content-Type': 'text/html',
      Link: everywhere.map((url) => `<${url}>; rel=preconnect, <${url}>; rel=preload; as=image`).join(', '),
      'Reporting-Endpoints': everywhere.map((url, index) => `e${index}="${url}"`).join(', '),
      'Content-Security-Policy-Report-Only': `img-src 'none'; report-uri ${everywhere.join(' ')}`,
    });
    response.end(canaryPage({ ...canaries, donePath: done }) + ownTricks(canaries.web, site.port));
  };
  const site = await startSite(
    {
      '/': page,
      '/redirect': redirect,
      '/refresh': (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/html', Refresh: `0;url=http://${first}/canary/refreshed` });
        response.end('<h1>one moment</h1>');
      },
      '/worker.js': serviceWorker(canaries.web),
      // Keeps the page loading until it and its worker have finished all attempts.
      '/wait': (_request, response) => void tried.promise.then(touchedAll).then(() => response.end()),
      [done]: (_request, response) => tick(done, response),
      '/worker-tried': (_request, response) => tick('/worker-tried', response),
    },
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
    const redirected = await capture(`/redirect?to=${first}`);
    let refreshed = await capture('/refresh');
    // The screenshot may be taken before the browser leaves the page.
    while (refreshed.failure === null && !over.signal.aborted) refreshed = await capture('/refresh');
    return {
      canaries: [...canaries.web.map((name) => `tcp ${name}`), ...canaries.datagrams.map((name) => `udp ${name}`)],
      touched: canaries.touched(),
      questions: names?.questions() ?? 0,
      asked: [...new Set(asked.map(({ host }) => host))],
      paths: [...new Set(site.paths)],
      redirectFailure: redirected.failure,
      refreshFailure: refreshed.failure,
      pictureBytes: picture.png?.length ?? 0,
    };
  } finally {
    clearTimeout(patience);
    over.abort();
    await screenshots.close();
    await Promise.all([site.close(), canaries.close(), names?.close()]);
    folder.remove();
  }
}

/** Only a page that does not complete its attempts needs this long. */
const PATIENCE_MS = 40_000;
const LOOK_EVERY_MS = 50;

function requestFor(url: string): CaptureRequest {
  const signal = AbortSignal.timeout(100_000);
  return { url, insecureSSL: true, userAgent: 'Vantage-Test/0', signal, timeoutMs: 90_000 };
}

/** Only a real origin can try these: its redirects, names that lead elsewhere, a service worker. */
function ownTricks(targets: readonly string[], port: number): string {
  return `${targets.map((target) => `<img src="/redirect?to=${target}" alt=""><iframe src="/redirect?to=${target}"></iframe>`).join('')}
<link rel="dns-prefetch" href="//prefetched.elsewhere.test"><link rel="preconnect" href="http://connected.elsewhere.test">
<img src="http://rebinding.test:${port + 1}/image" alt=""><img src="http://localhost:${port + 1}/image" alt="">
<img src="/wait" alt="">
<script>
navigator.serviceWorker.register('/worker.js').then((registration) => registration.update()).catch(() => {});
</script>`;
}

function serviceWorker(targets: readonly string[]): string {
  return `const reach = () => Promise.allSettled(${JSON.stringify(targets)}.flatMap((target) => [
  fetch('http://' + target + '/canary/worker', { mode: 'no-cors' }),
  fetch('/redirect?to=' + target, { mode: 'no-cors' }),
]));
reach();
addEventListener('install', (event) => { skipWaiting(); event.waitUntil(reach().then(() => fetch('/worker-tried'))); });
addEventListener('activate', (event) => event.waitUntil(clients.claim().then(reach)));
addEventListener('fetch', (event) => event.waitUntil(reach()));`;
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
