import { setTimeout as sleep } from 'node:timers/promises';

import type { Page } from 'puppeteer';

import { openRendering, type Rendering } from './rendering.ts';
import type { RequestWatch } from './request-watch.ts';

/** A page is quiet after this time without a request in flight and without a change of its text or elements. */
const QUIET_MS = 200;
const POLL_INTERVAL_MS = 25;
/**
 * Once the network has been idle for this time, changes no longer count: a clock or a ticker on the page never stops.
 */
const MAX_CHANGES_MS = 1_500;
/** Limit of rounds for a quiet page that continues whenever its timers fire. */
const MAX_ROUNDS = 5;

/**
 * Resolves when the page displays its content: when it is quiet and its timers and animations of the next second change
 * nothing, or after `MAX_ROUNDS` rounds or `timeoutMs`, which each round checks.
 *
 * @throws Error if the browser has ended
 */
export async function waitUntilQuiet(page: Page, requests: RequestWatch, timeoutMs: number): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  const rendering = await openRendering(page);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    await becomeQuiet(requests, rendering, endMs);
    if (performance.now() >= endMs) return;
    const [sent, changes] = [requests.sent(), await rendering.changes()];
    const finished = await rendering.finishAnimations();
    await rendering.skipSecond(() => requests.sent() > sent);
    if (finished === 0 && requests.sent() === sent && (await rendering.changes()) === changes) return;
  }
}

async function becomeQuiet(requests: RequestWatch, rendering: Rendering, endMs: number): Promise<void> {
  const startMs = performance.now();
  let [networkMs, quietMs] = [startMs, startMs];
  let [lastSent, lastChanges] = [requests.sent(), await rendering.changes()];
  for (let now = startMs; now < endMs && now - quietMs < QUIET_MS; now = performance.now()) {
    await sleep(POLL_INTERVAL_MS);
    const [sent, changes] = [requests.sent(), await rendering.changes()];
    if (requests.inFlight() > 0 || sent !== lastSent) networkMs = quietMs = performance.now();
    else if (changes !== lastChanges && now - networkMs < MAX_CHANGES_MS) quietMs = performance.now();
    [lastSent, lastChanges] = [sent, changes];
  }
}
