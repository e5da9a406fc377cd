import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest } from '@jest/globals';

import { axeViolations } from './axe.ts';
import { here, untilText, untilTrue, WAIT_LIMIT_MS } from './browser.ts';
import { itInBrowser } from './it-in-browser.ts';
import { startShowcase, type Showcase } from './showcase.ts';
import { summaryOf } from './showcase-answers.ts';
import { openSuiteBrowser, type SuiteBrowser, type SuiteTab } from './suite-browser.ts';
import { httpCheck, pingCheck, tcpCheck, tracerouteCheck, worldChecks } from './world.ts';
import { crowd, crowded, isLate, widelyTraced, withDeadlineMissed } from './world/crowd.ts';

jest.setTimeout(4 * WAIT_LIMIT_MS);

/** Height in pixels of the page of 50 probes before rows were grouped. */
const HEIGHT_OF_50 = 6166;

describe('the page of a check from a hundred probes', () => {
  let browser: SuiteBrowser | undefined;
  let showcase: Showcase;
  let tab: SuiteTab;

  beforeAll(async () => {
    showcase = await startShowcase();
    if (here.missing === null) browser = await openSuiteBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    showcase.close();
  });

  beforeEach(async () => {
    showcase.reset({ probes: crowd, checks: worldChecks.map(crowded) });
    if (browser !== undefined) tab = await browser.openTab(showcase.url);
  });
  afterEach(async () => tab?.close());

  /** Loads the first address of a test, and any with the same path; follows others as the page follows its links. */
  async function visit(path: string): Promise<void> {
    const url = `${showcase.url}${path}`;
    const isElsewhere = tab.page.url() !== 'about:blank' && new URL(tab.page.url()).pathname !== new URL(url).pathname;
    if (!isElsewhere) return void (await tab.page.goto(url));
    await tab.page.evaluate(`document.querySelector('main > *').dataset.isLeft = '';
      history.pushState(null, '', ${JSON.stringify(path)});
      dispatchEvent(new PopStateEvent('popstate'));`);
    await untilCount('[data-is-left]', 0);
  }
  async function open(path: string): Promise<void> {
    await visit(path);
    await untilText(tab.page, 'probes agree');
    await untilTrue(tab.page, `document.querySelector('table:not([aria-busy]) [data-probe]') !== null`);
  }

  const count = (selector: string): Promise<unknown> =>
    tab.page.evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`);
  const untilCount = (selector: string, number: number): Promise<void> =>
    untilTrue(tab.page, `document.querySelectorAll(${JSON.stringify(selector)}).length === ${number}`);
  const untilQuery = (query: string): Promise<void> =>
    untilTrue(tab.page, `location.search === ${JSON.stringify(query)}`);
  const rows = async (): Promise<readonly string[]> =>
    (await tab.page.evaluate(
      `[...document.querySelectorAll('[data-probe]')].map((row) => row.dataset.probe)`,
    )) as string[];

  for (const { testId, type } of worldChecks) {
    itInBrowser(`is shorter than fifty were, and can be used by everyone: ${type}`, async () => {
      await tab.page.setViewport({ width: 390, height: 844 });
      await open(`/c/${testId}`);
      expect(await tab.page.evaluate('document.documentElement.scrollWidth')).toBe(390);

      await tab.page.setViewport({ width: 1280, height: 900 });
      expect(await tab.page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(HEIGHT_OF_50);
      expect(await axeViolations(tab.page)).toEqual([]);
      expect(tab.faults).toEqual([]);
    });
  }

  itInBrowser('is compared with another: first where they differ, the others when asked', async () => {
    const [id, differing] = ['comparedAAAAAAAAAAAAAA', Object.keys(crowd).at(-1)!];
    for (const check of [httpCheck, tracerouteCheck].map(crowded)) {
      const changed = { ...check.results[differing]!, result: 'timeout', error: null, timings: undefined };
      showcase.checks.set(id, { ...check, testId: id, results: { ...check.results, [differing]: changed } });
      await visit(`/c/${check.testId}/compare/${id}`);
      await untilCount('.figures tbody tr', 12);

      const firstOf = (selector: string): Promise<unknown> =>
        tab.page.evaluate(`document.querySelector('${selector}').innerText.split(' ')[0]`);
      expect(await firstOf('.figures tbody th')).toBe(differing);
      const parts = check.type === 'http' ? '.http-view .strip-row strong' : 'main details.more';
      await untilCount(parts, 12);
      expect(await firstOf(check.type === 'http' ? parts : `${parts} summary`)).toBe(differing);
      expect(await tab.page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(HEIGHT_OF_50);
      expect(await axeViolations(tab.page)).toEqual([]);
      await tab.page.evaluate(`for (const button of document.querySelectorAll('main .rest')) button.click()`);
      await untilCount('.figures tbody tr', 100);
      await untilCount(parts, 100);
    }
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('draws every router of a hundred paths, and not in one frame', async () => {
    showcase.checks.set(tracerouteCheck.testId, widelyTraced(tracerouteCheck));
    await tab.atStart(`globalThis.counts = new Set();
      new MutationObserver(() => counts.add(document.querySelectorAll('.graph .node').length))
        .observe(document, { childList: true, subtree: true });`);
    await open(`/c/${tracerouteCheck.testId}?show=all`);

    await untilTrue(tab.page, `document.querySelectorAll('.graph .node.router').length >= 600`);
    // A silent node at the end of a path is replaced by a break mark, without a link.
    const { nodes, edges } = summaryOf(widelyTraced(tracerouteCheck), crowd).paths!;
    const silent = new Set(nodes.flatMap(({ kind, id }) => (kind === 'silent' ? [id] : [])));
    const links = edges.filter(({ to }) => !silent.has(to) || edges.some(({ from }) => from === to));
    await untilCount('.graph .edge', links.length);
    const counts = (await tab.page.evaluate('[...counts].filter((count) => count > 0)')) as number[];
    expect(counts.length).toBeGreaterThan(5);
    // The screenshot of the whole page must contain the graph, although the graph was never scrolled into view.
    expect(await tab.page.evaluate(`getComputedStyle(document.querySelector('.graph')).contentVisibility`)).toBe(
      'visible',
    );
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('draws a hundred rows of table and chart, and not in one frame', async () => {
    await tab.atStart(`globalThis.counts = new Set();
      new MutationObserver(() => {
        counts.add('row ' + document.querySelectorAll('[data-probe]').length);
        counts.add('strip ' + document.querySelectorAll('.strip-row:not(.axis-row)').length);
      }).observe(document, { childList: true, subtree: true });`);
    await open(`/c/${pingCheck.testId}?show=all`);

    await untilCount('[data-probe]', 100);
    await untilCount('.strip-row:not(.axis-row)', 100);
    const counts = (await tab.page.evaluate('[...counts]')) as string[];
    expect(counts.filter((text) => text.startsWith('row ') && text !== 'row 0').length).toBeGreaterThan(2);
    expect(counts.filter((text) => text.startsWith('strip ') && text !== 'strip 0').length).toBeGreaterThan(4);
    expect(await tab.page.evaluate(`document.querySelectorAll('.group-row button').length`)).toBe(0);
  });

  itInBrowser('keeps the map in place when one of its probes is chosen', async () => {
    for (const width of [1280, 390]) {
      await tab.page.setViewport({ width, height: 900 });
      await tab.page.goto(showcase.url);
      await untilCount('.pins .pin', 100);
      const top = `document.querySelector('.pins').getBoundingClientRect().top + scrollY`;
      const before = await tab.page.evaluate(top);
      await tab.page.evaluate(`document.querySelector('.pins .pin.good').click()`);
      await untilText(tab.page, 'measured from one chosen probe.');
      expect(await tab.page.evaluate(top)).toBe(before);
    }
  });

  itInBrowser('lists first the probes that need attention, and the others when asked', async () => {
    const urgent = Object.values(crowd).filter(({ status }) => status !== 'healthy').length;
    await tab.page.goto(`${showcase.url}/status`);
    await untilCount('.probe-list > li', 18);
    const states = (await tab.page.evaluate(
      `[...document.querySelectorAll('.probe-list header')].map((e) => e.innerText.split(/\\s+/).pop())`,
    )) as string[];
    expect(states.filter((state) => state !== 'healthy')).toHaveLength(urgent);
    expect(states.slice(0, urgent)).not.toContain('healthy');

    await tab.page.evaluate(
      `[...document.querySelectorAll('button')].find((e) => e.innerText === 'Show all 100 probes').click()`,
    );
    await untilCount('.probe-list > li', 100);
    await tab.page.type('#seek', 'japan');
    await untilCount('.probe-list > li', 7);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('begins with the probes that failed, in chart and table', async () => {
    await open(`/c/${pingCheck.testId}`);

    const failed = Object.entries(crowded(pingCheck).results).flatMap(([id, { result }]) =>
      result === 'timeout' || result === 'error' ? [id] : [],
    );
    expect((await rows()).slice(0, failed.length).toSorted()).toEqual(failed.toSorted());
    expect(await tab.page.evaluate(`document.querySelector('.strip-row .row-name').innerText`)).toBe((await rows())[0]);
    expect(await tab.page.evaluate(`document.querySelector('.group-row').innerText`)).toContain('Timed out');
  });

  itInBrowser('has the probes that could not measure at the end of the chart, where nothing is lost', async () => {
    const { results } = crowded(pingCheck);
    const unmeasured = Object.entries(results).flatMap(([id, { result }]) => (result === 'error' ? [id] : []));
    const names = async (): Promise<readonly string[]> =>
      (await tab.page.evaluate(`[...document.querySelectorAll('.strip-row .row-name')].map((e) => e.innerText)`)) as [];
    await open(`/c/${pingCheck.testId}`);
    expect((await names()).filter((id) => unmeasured.includes(id))).toEqual([]);

    await open(`/c/${pingCheck.testId}?show=all`);
    await untilCount('.strip-row .row-name', 100);
    expect((await names()).slice(-unmeasured.length).toSorted()).toEqual(unmeasured.toSorted());
  });

  itInBrowser(
    'has the probes that missed the deadline at the end of each chart, if they measured nothing',
    async () => {
      for (const [check, chart] of [
        [httpCheck, '.http-view .strip-row'],
        [pingCheck, '.ping-view .strip-row'],
        [tcpCheck, '.port-view .attempts'],
      ] as const) {
        showcase.checks.set(check.testId, withDeadlineMissed(crowded(check)));
        await open(`/c/${check.testId}`);
        const names = (await tab.page.evaluate(
          `[...document.querySelectorAll('${chart} .row-name')].slice(0, 12).map((e) => e.innerText)`,
        )) as readonly string[];

        expect(names).toHaveLength(12);
        expect(names.filter((id) => isLate(id))).toEqual([]);
      }
    },
  );

  itInBrowser('copies its rows as Markdown in the order that is shown', async () => {
    await tab.page.browserContext().overridePermissions(showcase.url, ['clipboard-read', 'clipboard-write']);
    for (const query of ['?show=all&group=none', '?show=all&group=none&sort=-probe']) {
      await open(`/c/${pingCheck.testId}${query}`);
      await untilCount('[data-probe]', 100);
      await tab.page.click('[aria-label="Copy as Markdown"]');
      await untilText(tab.page, 'Markdown copied.');
      const text = String(await tab.page.evaluate('navigator.clipboard.readText()'));

      expect(text.split('\n').flatMap((line) => /^\| ([a-z]+-\d+) \|/.exec(line)?.[1] ?? [])).toEqual(await rows());
    }
  });

  itInBrowser('shares one filter, which the link keeps, between map, chart and table', async () => {
    await open(`/c/${pingCheck.testId}`);
    await tab.page.type('#seek', 'japan');

    await untilCount('[data-probe]', 7);
    expect(await count('.strip-row:not(.axis-row)')).toBe(7);
    expect(await count('.pins .pin:not(.is-faint)')).toBe(7);
    await untilText(tab.page, '7 of 100 probes');
    await untilQuery('?find=japan');

    await tab.page.reload();
    await untilCount('[data-probe]', 7);
    expect(await axeViolations(tab.page)).toEqual([]);
    await tab.page.evaluate(
      `[...document.querySelectorAll('.filter button')].find((e) => e.innerText === 'Show all probes').click()`,
    );
    await untilQuery('');
    await tab.page.evaluate(
      `[...document.querySelectorAll('.outcomes button')].find((e) => e.innerText.startsWith('Timed out')).click()`,
    );
    await untilQuery('?outcome=Timed+out');
    expect((await rows()).every((id) => id.startsWith('jnb-'))).toBe(true);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('says that no probe matches the filter, and ends it', async () => {
    for (const { testId } of worldChecks) {
      await visit(`/c/${testId}?find=nowhere`);
      await untilText(tab.page, 'No probe matches the filter.');
      const text = String(await tab.page.evaluate('document.body.innerText'));
      expect(text).not.toContain('answered yet');
      expect(text).not.toContain('0 of 0');
      // One type suffices for the rest: what is in place of the rows is the same for all types.
      if (testId !== pingCheck.testId) continue;
      expect(await axeViolations(tab.page)).toEqual([]);
      await tab.page.evaluate(`document.querySelector('.probes-table p button').click()`);
      await untilTrue(tab.page, `document.querySelector('[data-probe]') !== null`);
      await untilQuery('');
    }
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('shares it with the graph of the paths', async () => {
    await open(`/c/${tracerouteCheck.testId}`);
    expect(await count('.node.probe')).toBe(12);
    await tab.page.type('#seek', 'japan');
    await untilCount('.node.probe', 7);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('keeps order, groups and completeness in the link', async () => {
    await open(`/c/${pingCheck.testId}?sort=-rttAvg&group=network`);
    expect(await count('.group-row')).toBe(8);
    expect(await tab.page.evaluate(`document.querySelector('[aria-sort]').ariaSort`)).toBe('descending');
    const before = await rows();
    expect(before).toHaveLength(24);
    expect(await axeViolations(tab.page)).toEqual([]);

    await tab.page.evaluate(
      `[...document.querySelectorAll('button')].find((e) => e.innerText === 'Show all 100 probes').click()`,
    );
    await untilCount('[data-probe]', 100);
    await untilQuery('?group=network&sort=-rttAvg&show=all');
    await tab.page.select('.group-by select', 'country');
    await untilQuery('?group=country&sort=-rttAvg&show=all');
    expect(await tab.page.evaluate(`document.querySelector('.group-row').innerText`)).toContain('South Africa');
  });

  itInBrowser('writes the JSON of a row only while it is seen', async () => {
    await open(`/c/${tracerouteCheck.testId}`);
    const [id = ''] = await rows();
    await tab.page.click(`[data-probe="${id}"] .opener`);
    // The hops load after the row has opened, and move what is below them: a click before that may miss.
    await untilCount('.details .hops', 1);
    await untilCount('.raw', 1);
    expect(await count('.raw pre')).toBe(0);

    await tab.page.click('.raw summary');
    await untilCount('.raw pre', 1);
    expect(JSON.parse(String(await tab.page.evaluate(`document.querySelector('.raw pre').textContent`)))).toEqual(
      crowded(tracerouteCheck).results[id],
    );
    expect(await axeViolations(tab.page)).toEqual([]);

    await tab.page.click('.raw summary');
    await untilCount('.raw pre', 0);
  });

  itInBrowser('lays out the details of a row only while they are near the screen', async () => {
    await open(`/c/${tracerouteCheck.testId}?show=all`);
    await untilCount('[data-probe]', 100);
    await tab.page.evaluate(
      `for (const one of [...document.querySelectorAll('[data-probe] .opener')].slice(-30)) one.click()`,
    );
    await untilCount('.details .hops', 30);
    const seen = `[...document.querySelectorAll('.details .hops')].map((e) => e.checkVisibility({ contentVisibilityAuto: true }))`;
    await tab.page.evaluate(`scrollTo({ top: 0, behavior: 'instant' })`);
    await untilTrue(tab.page, `!${seen}.includes(true)`);

    await tab.page.evaluate(`document.querySelectorAll('.details')[29].scrollIntoView({ behavior: 'instant' })`);
    await untilTrue(tab.page, `${seen}.at(-1) && !${seen}[0]`);
    await tab.page.emulateMediaType('print');
    await untilTrue(tab.page, `!${seen}.includes(false)`);
    expect(tab.faults).toEqual([]);
  });

  itInBrowser('opens a row that was not listed', async () => {
    await open(`/c/${pingCheck.testId}`);
    const listed = await rows();
    const hidden = Object.keys(crowd).find((id) => !listed.includes(id))!;
    await tab.page.evaluate(`document.querySelector('.pin[title^="${hidden},"]').click()`);

    await untilTrue(tab.page, `document.querySelector('[data-probe="${hidden}"] [aria-expanded=true]') !== null`);
  });

  itInBrowser('is downloaded as CSV and JSON lines, as it is filtered', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'vantage-download-'));
    const session = await tab.page.createCDPSession();
    try {
      const { id: browserContextId } = tab.page.browserContext();
      await session.send('Browser.setDownloadBehavior', {
        behavior: 'allow',
        downloadPath: folder,
        ...(browserContextId === undefined ? {} : { browserContextId }),
      });
      await open(`/c/${pingCheck.testId}?find=japan`);
      const download = async (title: string, extension: string): Promise<string> => {
        await tab.page.click(`[aria-label="Download as ${title}"]`);
        const file = join(folder, `ping-${pingCheck.testId}.${extension}`);
        while (!existsSync(file) || readdirSync(folder).some((name) => name.endsWith('.crdownload'))) await sleep(50);
        return readFileSync(file, 'utf8');
      };

      const [head, ...lines] = (await download('CSV', 'csv')).trimEnd().split('\r\n');
      expect(head).toMatch(/^checkId,type,host,probe,probeCountryCode,probeCity,probeAsNumber,probeIsp,result,rt,/);
      expect(lines.map((line) => line.split(',')[3])).toEqual(await rows());
      const objects = (await download('JSON lines', 'jsonl')).trimEnd().split('\n');
      expect(objects.map((line) => (JSON.parse(line) as { probe: string }).probe)).toEqual(await rows());
      expect(tab.faults).toEqual([]);
    } finally {
      await session.detach();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  itInBrowser('prints all rows and no controls', async () => {
    await open(`/c/${pingCheck.testId}`);
    const before = (await rows()).length;
    await tab.page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
    await tab.page.emulateMediaType('print');

    await untilCount('[data-probe]', 100);
    const shown = await tab.page.evaluate(
      `['.check-form', '.copy-bar', '#seek', '.headline'].map((e) => document.querySelector(e).checkVisibility())`,
    );
    expect(shown).toEqual([false, false, false, true]);
    expect(await tab.page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('light');
    await tab.page.evaluate(`dispatchEvent(new Event('afterprint'))`);
    await untilCount('[data-probe]', before);
    expect(before).toBeLessThan(100);
  });

  itInBrowser('prints all findings, the titles of columns on each page, and graphs that fit', async () => {
    const http = worldChecks.find(({ type }) => type === 'http')!;
    await open(`/c/${http.testId}`);
    await tab.page.emulateMediaType('print');

    const findings = summaryOf(crowded(http), crowd).findings.length;
    expect(findings).toBeGreaterThan(5);
    const shown = `[...document.querySelectorAll('.findings > li')].filter((e) => e.checkVisibility({ contentVisibilityAuto: true }) && e.offsetHeight > 0).length`;
    expect(await tab.page.evaluate(shown)).toBe(findings);
    // Browsers repeat the head of a table on each printed page, but its buttons only on the first one.
    const titles = `[...document.querySelectorAll('thead th')].map((e) =>
      [e.querySelector('button').checkVisibility(), getComputedStyle(e, '::after').content])`;
    expect(await tab.page.evaluate(titles)).toContainEqual([false, '"First byte"']);
    const outcomes = `[...document.querySelectorAll('.outcomes button')].map((e) => e.checkVisibility())`;
    expect(await tab.page.evaluate(outcomes)).toEqual([false, false, false]);

    const dots = `['.pins .pin', '.legend i'].map((e) => getComputedStyle(document.querySelector(e)).printColorAdjust)`;
    expect(await tab.page.evaluate(dots)).toEqual(['exact', 'exact']);

    await tab.page.setViewport({ width: 500, height: 900 });
    await open(`/c/${tracerouteCheck.testId}`);
    const widths = `['.graph', '.paths'].map((e) => document.querySelector(e).getBoundingClientRect().width)`;
    const [room, graph] = (await tab.page.evaluate(widths)) as [number, number];
    expect(graph).toBeLessThanOrEqual(room);
  });
});
