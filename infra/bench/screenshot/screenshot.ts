import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { createScreenshots, type Screenshots } from '../../../packages/diagnostics/src/index.ts';
import { hostilePages } from '@vantage/test-support/browser/hostile';
import { browserFolder, browserHere } from '@vantage/test-support/browser/needs';
import { admitSite, startSite } from '@vantage/test-support/browser/site';
import type { Progress } from '../../command/progress.ts';
import { median, quantile, type Figure } from '../goals.ts';
import { bareScreenshots } from './bare-browser.ts';
import { lateContent, lateContentPages } from './late-content.ts';
import { ordinaryPage } from './ordinary-page.ts';
import { watchMemory } from './watch-memory.ts';

const CAPTURES = 200;
/** Screenshots before the measurement, in which modules load and the heap grows to its size. */
const SETTLED_AFTER = 100;
const BARE = 20;
const WATCHED = 10;
const HOSTILE = 100;
const HOSTILE_TIMEOUT_MS = 3_000;

/** The least time limit of an agent's screenshot. */
const AGENT_TIMEOUT_MS = 12_000;

/**
 * Screenshots of an ordinary page one after another, compared with the browser alone; of pages whose content arrives
 * late; of hostile ones.
 */
export async function screenshot({ step }: Pick<Progress, 'step'>): Promise<readonly Figure[]> {
  const { executablePath, missing } = browserHere(process.env['PATH']);
  if (missing !== null) throw new Error(missing);
  const folder = await browserFolder();
  const site = await startSite({
    ...ordinaryPage(),
    ...lateContentPages,
    ...Object.fromEntries(hostilePages.map(({ serve }, index) => [`/hostile/${index}`, serve])),
  });
  const screenshots = createScreenshots({ executablePath, tempFolder: folder.path, admit: admitSite([site.port]) });
  const take = (path: string, timeoutMs?: number): ReturnType<Screenshots['capture']> =>
    screenshots.capture({
      url: site.origin + path,
      insecureSSL: false,
      userAgent: 'Vantage-Bench/0',
      signal: AbortSignal.timeout(60_000),
      timeoutMs,
    });
  try {
    const verdict = await screenshots.selfTest(AbortSignal.timeout(30_000));
    if (verdict !== null) throw new Error(verdict);
    const bare = await bareScreenshots(executablePath, `http://127.0.0.1:${site.port}/`, BARE);
    const browserMemory = watchMemory(folder.processes);
    for (let count = 0; count < WATCHED; count += 1) await take('/');
    const peak = browserMemory.stop();
    step('pages whose content comes late');
    const late = await lateContent(executablePath, site, (path) => take(path, AGENT_TIMEOUT_MS));
    const ordinary = await takeOrdinary(() => take('/'), step);
    // The watch creates garbage itself, so it starts only after the growth by ordinary pages was measured.
    folder.watch();
    const hostile = await takeHostile((path) => take(path, HOSTILE_TIMEOUT_MS), step);
    const left = { processes: (await folder.processes()).length, files: folder.contents().length };
    const besideBare = `the browser alone with --screenshot: ${Math.round(median(bare))} ms`;
    return [
      { name: 'a picture, median', value: median(ordinary.times), unit: 'ms', comparison: besideBare, atMost: 1_000 },
      ...late,
      { name: 'in a network namespace', value: Number(screenshots.status().namespace), unit: '(1: yes)' },
      { name: 'a picture, p95', value: quantile(ordinary.times, 0.95), unit: 'ms' },
      { name: 'memory of the browser at its peak', value: peak, unit: 'MiB', atMost: 400 },
      { name: 'memory of the agent after the pictures', value: ordinary.after, unit: 'MiB' },
      {
        name: 'growth of the agent',
        value: ordinary.after - ordinary.before,
        unit: 'MiB',
        comparison: `from picture ${SETTLED_AFTER} to picture ${CAPTURES}`,
        atMost: 16,
      },
      { name: 'growth of its heap', value: ordinary.heapGrowth, unit: 'MiB', atMost: 2 },
      { name: 'hostile pages that were shown', value: hostile.shown, unit: `of ${HOSTILE}` },
      { name: 'growth of the agent by hostile pages', value: hostile.growth, unit: 'MiB', atMost: 48 },
      { name: 'growth of its heap by hostile pages', value: hostile.heapGrowth, unit: 'MiB', atMost: 2 },
      { name: 'processes left by hostile pages', value: left.processes, unit: '', atMost: 0 },
      { name: 'files left by hostile pages', value: left.files, unit: '', atMost: 0 },
    ];
  } finally {
    await screenshots.close();
    await site.close();
    folder.remove();
  }
}

async function takeOrdinary(
  take: () => ReturnType<Screenshots['capture']>,
  step: Progress['step'],
): Promise<{
  readonly times: readonly number[];
  readonly before: number;
  readonly after: number;
  readonly heapGrowth: number;
}> {
  const times: number[] = [];
  let settled = collected();
  for (let count = 0; count < CAPTURES; count += 1) {
    step(`ordinary page ${count + 1} of ${CAPTURES}`);
    if (count === SETTLED_AFTER) settled = collected();
    const started = performance.now();
    const { failure } = await take();
    if (failure !== null) throw new Error(failure.message);
    times.push(performance.now() - started);
  }
  const end = collected();
  return { times, before: settled.resident, after: end.resident, heapGrowth: end.heap - settled.heap };
}

async function takeHostile(
  take: (path: string) => ReturnType<Screenshots['capture']>,
  step: Progress['step'],
): Promise<{
  readonly shown: number;
  readonly growth: number;
  readonly heapGrowth: number;
}> {
  let shown = 0;
  // The first round allocates the buffers that later rounds reuse.
  let settled = collected();
  for (let count = 0; count < HOSTILE; count += 1) {
    step(`hostile page ${count + 1} of ${HOSTILE}`);
    if (count === hostilePages.length) settled = collected();
    const { failure } = await take(`/hostile/${count % hostilePages.length}`);
    if (failure === null) shown += 1;
  }
  const end = collected();
  return { shown, growth: end.resident - settled.resident, heapGrowth: end.heap - settled.heap };
}

/** Memory of this process after a full garbage collection, MiB. */
function collected(): { readonly resident: number; readonly heap: number } {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { rss, heapUsed } = process.memoryUsage();
  return { resident: rss / 1024 ** 2, heap: heapUsed / 1024 ** 2 };
}
