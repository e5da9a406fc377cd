import { setTimeout as sleep } from 'node:timers/promises';

import { openBrowser, openTab, untilTrue } from '../../../apps/web/test/browser.ts';
import { startShowcase } from '../../../apps/web/test/showcase.ts';
import { worldChecks } from '../../../apps/web/test/world.ts';
import { crowd, crowded } from '../../../apps/web/test/world/crowd.ts';
import type { Progress } from '../../command/progress.ts';
import { median, type Figure } from '../goals.ts';
import { recordTasks } from './main-thread.ts';

const RUNS = 3;
/** Duration from which browsers report a long task. */
const LONG_TASK_MS = 50;
/** Time in which the rest of a long list is drawn after the first rows. */
const SETTLE_MS = 2_000;

/**
 * The longest task of the main thread while a completed check from a hundred probes opens, with the default rows and
 * with all rows.
 */
export async function* crowdTasks(progress: Progress): AsyncGenerator<Figure> {
  const checks = worldChecks.map(crowded);
  const showcase = await startShowcase({ probes: crowd, checks });
  const browser = await openBrowser();
  try {
    let pages = 0;
    for (const { type, testId } of checks) {
      for (const query of ['', '?show=all']) {
        progress.step(`${type}${query}, page ${(pages += 1)} of ${2 * checks.length}`);
        const longest: number[] = [];
        for (let run = 0; run < RUNS; run += 1) {
          longest.push(await longestTask(browser, showcase.url, `/c/${testId}${query}`));
        }
        const name = `longest task, ${type} from 100 probes${query === '' ? '' : ', all rows'}`;
        yield { name, value: median(longest), unit: 'ms CPU', atMost: LONG_TASK_MS };
      }
    }
  } finally {
    await browser.close();
    showcase.close();
  }
}

type Browser = Awaited<ReturnType<typeof openBrowser>>;

async function longestTask(browser: Browser, url: string, path: string): Promise<number> {
  const tab = await openTab(browser, url);
  try {
    const end = await recordTasks(tab.page);
    await tab.page.goto(`${url}${path}`);
    const rows = path.endsWith('?show=all') ? Object.keys(crowd).length : 1;
    await untilTrue(tab.page, `document.querySelectorAll('table:not([aria-busy]) [data-probe]').length >= ${rows}`);
    await sleep(SETTLE_MS);
    return Math.max(...(await end()));
  } finally {
    await tab.close();
  }
}
