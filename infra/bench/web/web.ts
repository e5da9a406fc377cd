import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

import { openBrowser, openTab, untilTrue } from '../../../apps/web/test/browser.ts';
import { startService } from '../../../apps/standalone/test/service.ts';
import type { Progress } from '../../command/progress.ts';
import { median, quantile, type Figure } from '../goals.ts';
import { measureParts, type Part } from '../parts.ts';
import { crowdTasks } from './crowd-tasks.ts';
import { liveFrames } from './live-frames.ts';

const CHECKS = 40;
const KIB = 1024;

const parts: Readonly<Record<string, Part>> = {
  sizes: { title: 'sizes of the first load', measure: sizes },
  crowd: { title: 'tasks of pages with a hundred probes', measure: crowdTasks },
  delays: { title: `delays of ${CHECKS} checks`, measure: delays },
  live: { title: 'tasks of a live trace, one minute', measure: liveFrames },
};

/**
 * Size of the page, and the time until a result is on the screen: five minutes on an idle machine, a multiple on a busy one.
 *
 * @param only the name of one part
 */
export const web = async (progress: Progress, only?: string): Promise<readonly Figure[]> =>
  measureParts(parts, progress, only);

/**
 * Everything that a first visit loads, including the map and the view of the check type: for a current browser
 * (Brotli), and for others (gzip).
 */
function sizes(): readonly Figure[] {
  const folder = fileURLToPath(new URL('../../../apps/web/dist/page/', import.meta.url));
  const document = readFileSync(join(folder, 'index.html'), 'utf8');
  const files = [...document.matchAll(/\.\/(assets\/[^"]+|theme\.js|icon\.svg)/g)].map(([, file]) => file!);
  const sizeOf = (file: string, coding: 'br' | 'gz'): number =>
    statSync(join(folder, file.endsWith('.woff2') ? file : `${file}.${coding}`)).size;
  // The service compresses the document itself, as it has the base address in it.
  const sent = { br: brotliCompressSync(document).length, gz: gzipSync(document).length };
  const total = (coding: 'br' | 'gz', more: readonly string[] = []): number =>
    [...files, ...more].reduce((sum, file) => sum + sizeOf(file, coding), sent[coding]) / KIB;
  const assets = readdirSync(join(folder, 'assets'));
  const script = (name: string): string =>
    `assets/${assets.find((file) => file.startsWith(`${name}-`) && file.endsWith('.js'))!}`;
  const home = importsOf(folder, script('Land'), new Set(files));
  // The page of a check, with the largest view of a check type.
  const later = (coding: 'br' | 'gz'): readonly string[] => {
    const known = new Set([...files, ...home]);
    const check = importsOf(folder, script('Check'), known);
    const views = assets
      .filter((file) => /View-[^.]*\.js$/.test(file) && !file.startsWith('TypeView'))
      .map((file) => importsOf(folder, `assets/${file}`, new Set([...known, ...check])));
    const weigh = (more: readonly string[]): number => more.reduce((sum, file) => sum + sizeOf(file, coding), 0);
    return [...home, ...check, ...views.toSorted((a, b) => weigh(b) - weigh(a))[0]!];
  };
  const one = (extension: string): string =>
    files.find((file) => file.startsWith('assets/') && file.endsWith(extension))!;
  const scripts = files
    .filter((file) => /^assets\/.*\.js$/.test(file))
    .reduce((sum, file) => sum + sizeOf(file, 'br'), 0);
  return [
    { name: 'scripts, Brotli', value: scripts / KIB, unit: 'KiB' },
    { name: 'style sheet, Brotli', value: sizeOf(one('.css'), 'br') / KIB, unit: 'KiB' },
    { name: 'font', value: sizeOf(one('.woff2'), 'br') / KIB, unit: 'KiB' },
    { name: 'first load, Brotli', value: total('br', home), unit: 'KiB', atMost: 80 },
    { name: 'first load, gzip', value: total('gz', home), unit: 'KiB', atMost: 80 },
    { name: 'first load of a check, Brotli', value: total('br', later('br')), unit: 'KiB', atMost: 80 },
    { name: 'first load of a check, gzip', value: total('gz', later('gz')), unit: 'KiB', atMost: 80 },
  ];
}

/** A script and its imports that are not loaded yet: the additional load of a check's page. */
function importsOf(folder: string, file: string, known: Set<string>): readonly string[] {
  if (known.has(file)) return [];
  known.add(file);
  const imports = readFileSync(join(folder, file), 'utf8').matchAll(/(?:from|import)\s*"\.\/([\w-]+\.js)"/g);
  return [file, ...[...imports].flatMap(([, name]) => importsOf(folder, `assets/${name}`, known))];
}

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
      // The first run warms everything up.
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
