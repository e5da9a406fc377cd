import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openBrowser, openTab, untilTrue } from '../../../apps/web/test/browser.ts';
import { startService } from '../../../apps/standalone/test/service.ts';
import type { Progress } from '../../command/progress.ts';
import { median, quantile, type Figure } from '../goals.ts';
import { measureParts, type Part } from '../parts.ts';
import { crowdTasks } from './crowd-tasks.ts';
import { liveFrames } from './live-frames.ts';
import { sizes } from './sizes.ts';

const CHECKS = 40;

const parts: Readonly<Record<string, Part>> = {
  sizes: { title: 'sizes of the first load', measure: sizes },
  crowd: { title: 'tasks of pages with a hundred probes', measure: crowdTasks },
  delays: { title: `delays of ${CHECKS} checks`, measure: delays },
  live: { title: 'tasks of a live trace, one minute', measure: liveFrames },
};

/**
 * Size of the page, tasks of its main thread, and the time until a result is on the screen; takes minutes.
 *
 * @param only the name of one part
 */
export const web = async (progress: Progress, only?: string): Promise<readonly Figure[]> =>
  measureParts(parts, progress, only);

/**
 * Time from the answer at the last probe to the frame that displays it, by the clock of this machine, which agents
 * and browser share.
 */
async function* delays(progress: Progress): AsyncGenerator<Figure> {
  const folder = mkdtempSync(join(tmpdir(), 'vantage-bench-web-'));
  const service = await startService(folder, ['--allow', '127.0.0.0/8', '--rate-limit', '1000000']);
  // After an interrupt, this process exits as soon as the browser has ended, without stopping the service.
  const endService = (): void => void process.kill(service.pid, 'SIGINT');
  process.once('exit', endService);
  const browser = await openBrowser();
  try {
    const { page } = await openTab(browser, service.url);
    await page.evaluateOnNewDocument(noteLastAnswer);
    const shown: number[] = [];
    const drawn: number[] = [];
    for (let check = 0; check <= CHECKS; check += 1) {
      progress.step(`check ${check} of ${CHECKS}`);
      await page.goto(`${service.url}/?type=ping&host=127.0.0.1`);
      await untilTrue(page, `document.querySelector('#host')?.value === '127.0.0.1'`);
      await page.focus('#host');
      await page.keyboard.press('Enter');
      await untilTrue(page, 'globalThis.shownAt !== undefined');
      const [id, shownAt, drawnAt] = (await page.evaluate(
        '[location.pathname.split("/").pop(), shownAt, drawnAt]',
      )) as [string, number, number];
      const results = (await (await fetch(`${service.url}/check/${id}/results`)).json()) as {
        readonly results: Record<string, { readonly finishedAt: string }>;
      };
      const answeredAt = Math.max(...Object.values(results.results).map(({ finishedAt }) => Date.parse(finishedAt)));
      // The first run loads modules and fills caches, so it does not count.
      if (check === 0) continue;
      shown.push(shownAt - answeredAt);
      drawn.push(drawnAt - answeredAt);
    }
    yield* [
      { name: 'last answer to the page, p50', value: median(shown), unit: 'ms' },
      { name: 'last answer to the page, p95', value: quantile(shown, 0.95), unit: 'ms' },
      { name: 'last answer to the screen, p50', value: median(drawn), unit: 'ms' },
      { name: 'last answer to the screen, p95', value: quantile(drawn, 0.95), unit: 'ms', atMost: 150 },
    ];
  } finally {
    await browser.close();
    process.off('exit', endService);
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs in the page: `shownAt` is when the last row has its outcome, `drawnAt` when the frame with it is complete. */
const noteLastAnswer = `
  new MutationObserver((_changes, observer) => {
    const outcomes = [...document.querySelectorAll('[data-probe] .outcome')];
    if (outcomes.length < 3 || outcomes.some((outcome) => outcome.classList.contains('wait'))) return;
    observer.disconnect();
    const at = Date.now();
    requestAnimationFrame(() => setTimeout(() => { globalThis.drawnAt = Date.now(); globalThis.shownAt = at; }));
  }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
`;
