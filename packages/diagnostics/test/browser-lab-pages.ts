import type { ServerResponse } from 'node:http';

import type { Serve } from '@vantage/test-support/browser/site';

import type { Canaries } from '../src/browser/isolation/canaries.ts';
import { canaryPage } from '../src/browser/isolation/canary-page.ts';

/** Paths that the page and its service worker request when they have tried everything. */
export const DONE = '/done';
export const WORKER_TRIED = '/worker-tried';

/** What the page and its service worker have tried. */
export interface Attempts {
  /** Notes that a part has tried everything. */
  readonly tick: (path: string, response: ServerResponse) => void;
  /** Resolves when all parts have tried everything and the expected canaries were touched, or when it is over. */
  readonly ended: () => Promise<void>;
  readonly isOver: () => boolean;
  readonly stop: () => void;
}

/** The pages of the lab by path. */
export function labPages(
  canaries: Canaries,
  attempts: Attempts,
  portOfSite: () => number,
): Readonly<Record<string, string | Serve>> {
  const everywhere = canaries.web.map((target) => `http://${target}/canary/header`);
  const [first = ''] = canaries.web;
  return {
    '/': (_request, response) => {
      response.writeHead(200, {
        'Content-Type': 'text/html',
        Link: everywhere.map((url) => `<${url}>; rel=preconnect, <${url}>; rel=preload; as=image`).join(', '),
        'Reporting-Endpoints': everywhere.map((url, index) => `e${index}="${url}"`).join(', '),
        'Content-Security-Policy-Report-Only': `img-src 'none'; report-uri ${everywhere.join(' ')}`,
      });
      response.end(canaryPage({ ...canaries, donePath: DONE }) + ownTricks(canaries.web, portOfSite()));
    },
    '/redirect': (request, response) => {
      const to = new URL(request.url ?? '', 'http://page.test').searchParams.get('to');
      response.writeHead(302, { Location: `http://${to}/canary/redirected` }).end();
    },
    '/refresh': (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html', Refresh: `0;url=http://${first}/canary/refreshed` });
      response.end('<h1>one moment</h1>');
    },
    '/worker.js': serviceWorker(canaries.web),
    // Keeps the page loading until it and its worker have finished all attempts.
    '/wait': (_request, response) => void attempts.ended().then(() => response.end()),
    [DONE]: (_request, response) => attempts.tick(DONE, response),
    [WORKER_TRIED]: (_request, response) => attempts.tick(WORKER_TRIED, response),
  };
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
addEventListener('install', (event) => { skipWaiting(); event.waitUntil(reach().then(() => fetch('${WORKER_TRIED}'))); });
addEventListener('activate', (event) => event.waitUntil(clients.claim().then(reach)));
addEventListener('fetch', (event) => event.waitUntil(reach()));`;
}
